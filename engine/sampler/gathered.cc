#include "sampler/gathered.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace atl {

GatheredBytes::GatheredBytes(Communicator& comm)
    : comm_(comm), begins_(std::size_t(comm.size()) + 1), sizes_(std::size_t(comm.size())) {}

Index GatheredBytes::begin(Index own) {
  const auto me = std::size_t(comm_.rank());
  sizes_[me] = own;
  sends_.clear(), receives_.clear();
  for (Rank r = 0; r < comm_.size(); ++r) {
    if (r == comm_.rank()) continue;
    sends_.push_back({r, reinterpret_cast<std::byte*>(&sizes_[me]), 8});
    receives_.push_back({r, reinterpret_cast<std::byte*>(&sizes_[std::size_t(r)]), 8});
  }
  comm_.exchange(Lane::kPrefetch, Traffic::kStructure, sends_, receives_).wait();
  for (std::size_t r = 0; r < sizes_.size(); ++r) begins_[r + 1] = begins_[r] + sizes_[r];
  return begins_.back();
}

void GatheredBytes::fill(std::byte* all) {
  sends_.clear(), receives_.clear();
  const auto part = [&](Rank r) -> Message {
    const Index first = begins_[std::size_t(r)], bytes = begins_[std::size_t(r) + 1] - first;
    return {r, bytes == 0 ? nullptr : all + first, bytes};
  };
  for (Rank r = 0; r < comm_.size(); ++r) {
    if (r == comm_.rank()) continue;
    Message own = part(comm_.rank());
    own.peer = r;
    sends_.push_back(own);
    receives_.push_back(part(r));
  }
  comm_.exchange(Lane::kPrefetch, Traffic::kStructure, sends_, receives_).wait();
}

void gathered_bytes(std::span<const VertexId> rows, Index width, const Owners& ranks,
                    FunctionRef<void(Rank from, Rank to, Index bytes)> sent) {
  std::vector<Index> own(std::size_t(ranks.ranks()), 0);
  for (const VertexId row : rows) own[std::size_t(ranks.owner_of(row))] += width;
  for (Rank from = 0; from < ranks.ranks(); ++from)
    for (Rank to = 0; to < ranks.ranks(); ++to)
      if (from != to) sent(from, to, 8), sent(from, to, own[std::size_t(from)]);
}

/// Running sums begin again in each part, so that their bits don't depend on which rank owns the part.
WeightedDraws::WeightedDraws(const Owners& owners, Communicator& comm, const std::vector<double>& weights)
    : owners_(owners), first_(owners.first_row(comm.rank())), sums_(weights), gathered_(comm) {
  const Rank me = comm.rank();
  ATOLL_CHECK(Index(weights.size()) == owners.rows(me), "{} weights", weights.size());
  std::vector<double> of_parts(std::size_t(owners.parts()), 0);
  for (int part = owners.first_part(me); part < owners.first_part(me + 1); ++part) {
    const auto begin = sums_.begin() + (owners.part_begin(part) - first_),
               end = sums_.begin() + (owners.part_begin(part + 1) - first_);
    std::partial_sum(begin, end, begin);
    if (begin != end) of_parts[std::size_t(part)] = *(end - 1);
  }
  comm.all_reduce(Traffic::kSetup, std::span<double>(of_parts));
  part_sums_.push_back(0);
  for (const double sum : of_parts) part_sums_.push_back(part_sums_.back() + sum);
}

std::span<const WeightedDraws::Drawn> WeightedDraws::draw(const Draws& draws, Index count) {
  own_.take(0);
  const double all = part_sums_.back();
  for (Index k = 0; k < count && all > 0; ++k) {
    const double at = draws.uniform_at(std::uint64_t(k), 0) * all;
    const auto part =
        int(std::upper_bound(part_sums_.begin(), part_sums_.end(), at) - part_sums_.begin()) - 1;
    const Index part_begin = owners_.part_begin(part) - first_;
    if (part_begin < 0 || part_begin >= Index(sums_.size())) continue;
    const auto begin = sums_.begin() + part_begin,
               end = sums_.begin() + (owners_.part_begin(part + 1) - first_);
    const auto found = std::upper_bound(begin, end, at - part_sums_[std::size_t(part)]);
    // A draw that rounding puts beyond the last row takes the last row that has a weight.
    const auto row = found != end ? found : std::lower_bound(begin, end, *(end - 1));
    own_.push({VertexId(first_ + (row - sums_.begin())), 1, 0});
  }
  const auto own = own_.span();
  std::ranges::sort(own, {}, &Drawn::row);
  Index distinct = 0;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i > 0 && own[i].row == own_[distinct - 1].row)
      ++own_[distinct - 1].times;
    else
      own_[distinct++] = {own[i].row, 1, probability(own[i].row)};
  }
  return gathered_.gather(own_.first(distinct));
}

double WeightedDraws::probability(VertexId row) const {
  const Index at = Index(row) - first_;
  const int part = owners_.part_of(row);
  const double before = Index(row) == owners_.part_begin(part) ? 0 : sums_[std::size_t(at) - 1];
  return part_sums_.back() > 0 ? (sums_[std::size_t(at)] - before) / part_sums_.back() : 0;
}

}  // namespace atl
