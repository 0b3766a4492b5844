#include "sampler/seeds.h"

#include <algorithm>

#include "base/error.h"
#include "base/random.h"
#include "sampler/draw_positions.h"

namespace atl {
namespace {

__extension__ using Exact = __int128;  // of a product of two counts

}  // namespace

TrainingRows training_rows(const PreparedGraph& graph, const Owners& owners, Rank rank,
                           FunctionRef<bool(VertexId id)> trains) {
  return training_rows(graph.part_offsets(), graph.ids(), owners, rank, trains);
}

TrainingRows training_rows(std::span<const Index> part_offsets, std::span<const VertexId> ids,
                           const Owners& owners, Rank rank, FunctionRef<bool(VertexId id)> trains) {
  TrainingRows own{owners.first_part(rank), {}};
  for (int part = own.first_part; part < owners.first_part(rank + 1); ++part) {
    auto& rows = own.by_part.emplace_back();
    for (Index row = part_offsets[std::size_t(part)]; row < part_offsets[std::size_t(part) + 1]; ++row)
      if (trains(ids[std::size_t(row)])) rows.push_back(VertexId(row));
    std::ranges::sort(rows, {}, [&](VertexId row) { return ids[std::size_t(row)]; });
  }
  return own;
}

Seeds::Seeds(std::vector<Index> training, TrainingRows own, Index batch_size, std::uint64_t seed)
    : shares_(training, batch_size), own_(std::move(own)), seed_(seed) {
  for (std::size_t i = 0; i < own_.by_part.size(); ++i) {
    const std::size_t part = std::size_t(own_.first_part) + i;
    ATOLL_CHECK(part < training.size() && Index(own_.by_part[i].size()) == training[part],
                "{} training vertices of part {} of {}", own_.by_part[i].size(), part, training.size());
  }
}

void Seeds::of_step(std::int64_t step, std::vector<VertexId>& rows) {
  const std::int64_t epoch = step / steps();
  const auto shares = shares_.of_step(step % steps());
  rows.clear();
  for (std::size_t i = 0; i < own_.by_part.size(); ++i) {
    const auto& vertices = own_.by_part[i];
    const std::size_t part = std::size_t(own_.first_part) + i;
    const SeedShares::Share share = shares[part];
    if (share.count == 0) continue;
    const Draws draws(seed_, Purpose::kBatch, std::uint64_t(epoch), part);
    const KeyedOrder order(vertices.size(), draws.key());
    const auto first = std::ptrdiff_t(rows.size());
    for (Index k = 0; k < share.count; ++k)
      rows.push_back(vertices[std::size_t(order.at(std::uint64_t(share.begin + k)))]);
    std::sort(rows.begin() + first, rows.end());
  }
}

void check_batch_size(Index batch_size, const std::string& field) {
  if (batch_size < 1)
    fail(
        "{}: {} is not allowed (use 1 or more, the training vertices of a step over all ranks, for example 1024)",
        field, batch_size);
}

SeedShares::SeedShares(std::vector<Index> training, Index batch_size)
    : training_(std::move(training)), batch_size_(batch_size), shares_(training_.size()) {
  ATOLL_CHECK(batch_size >= 1, "batch size {}", batch_size);
  for (const Index count : training_) vertices_ += count;
  remainders_.reserve(training_.size());
  restart();
}

Index SeedShares::size(std::int64_t step) const {
  ATOLL_CHECK(step >= 0 && step < steps(), "step {} of {}", step, steps());
  return std::min(batch_size_, vertices_ - step * batch_size_);
}

std::span<const SeedShares::Share> SeedShares::of_step(std::int64_t step) {
  ATOLL_CHECK(step >= 0 && step < steps(), "step {} of {}", step, steps());
  if (step < step_) restart();
  while (step_ < step) advance();
  return shares_;
}

void SeedShares::restart() {
  std::ranges::fill(shares_, Share{});
  step_ = -1;
}

void SeedShares::advance() {
  const Index size = this->size(++step_), left = vertices_ - step_ * batch_size_;
  Index given = 0;
  remainders_.clear();
  for (std::size_t p = 0; p < shares_.size(); ++p) {
    Share& share = shares_[p];
    share.begin += share.count;
    const Exact quota = Exact(training_[p] - share.begin) * size;
    share.count = Index(quota / left);
    given += share.count;
    remainders_.push_back({std::int64_t(quota % left), p});
  }
  std::ranges::sort(remainders_, [](const Remainder& a, const Remainder& b) {
    return a.rest != b.rest ? a.rest > b.rest : a.part < b.part;
  });
  for (std::size_t i = 0; given < size; ++i, ++given) ++shares_[remainders_[i].part].count;
}

}  // namespace atl
