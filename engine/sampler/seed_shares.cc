#include "sampler/seed_shares.h"

#include <algorithm>

#include "base/error.h"

namespace atl {

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

/// Products stay below 2⁶²: vertices are counted with 31 bits.
void SeedShares::advance() {
  const Index size = this->size(++step_), left = vertices_ - step_ * batch_size_;
  Index given = 0;
  remainders_.clear();
  for (std::size_t p = 0; p < shares_.size(); ++p) {
    Share& share = shares_[p];
    share.begin += share.count;
    const std::int64_t quota = (training_[p] - share.begin) * size;
    share.count = quota / left;
    given += share.count;
    remainders_.push_back({quota % left, p});
  }
  std::ranges::sort(remainders_, [](const Remainder& a, const Remainder& b) {
    return a.rest != b.rest ? a.rest > b.rest : a.part < b.part;
  });
  for (std::size_t i = 0; given < size; ++i, ++given) ++shares_[remainders_[i].part].count;
}

}  // namespace atl
