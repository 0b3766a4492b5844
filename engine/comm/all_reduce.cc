#include "comm/all_reduce.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "comm/communicator.h"

namespace atl {
namespace {

constexpr Index kDirectBytes =
    64 * 1024;  // bytes to all others; below this, a second round costs more than it saves

bool is_sliced(int ranks, Index bytes) {
  return ranks > 2 && (ranks - 1) * bytes > kDirectBytes;
}

Index slice_begin(Rank rank, int ranks, Index count) {
  return count * rank / ranks;
}
Index slice_count(Rank rank, int ranks, Index count) {
  return slice_begin(rank + 1, ranks, count) - slice_begin(rank, ranks, count);
}

}  // namespace

std::int64_t all_reduce_bytes(int ranks, Rank rank, Index count, Index width) {
  if (ranks == 1) return 0;
  if (!is_sliced(ranks, count * width)) return (ranks - 1) * count * width;
  const Index mine = slice_count(rank, ranks, count);
  return (count - mine + (ranks - 1) * mine) * width;
}

std::int64_t all_reduce_memory(int ranks, Rank rank, Index count, Index width) {
  const Index term = is_sliced(ranks, count * width) ? slice_count(rank, ranks, count) : count;
  return (ranks - 1) * term * width;
}

/// Two of the 2 P slices aren't passed on. The slice after this rank's own ends its first way round the ring
/// here, and the slice after that ends its second.
std::int64_t ring_bytes(int ranks, Rank rank, Index count, Index width) {
  const Index never_first = slice_count((rank + 1) % ranks, ranks, count),
              never_second = slice_count((rank + 2) % ranks, ranks, count);
  return (2 * count - never_first - never_second) * width;
}

SumShape sum_shape(const RankGroup& group, Index count, Index width) {
  return {group.members(), group.place(), group.size(), count, width};
}

Index AllReduce::slice_begin(Rank r) const {
  return atl::slice_begin(r, shape_.ranks, shape_.count);
}
Index AllReduce::slice_count(Rank r) const {
  return atl::slice_count(r, shape_.ranks, shape_.count);
}

void AllReduce::begin(const SumShape& shape, std::byte* values, Add add, std::byte* terms,
                      std::vector<Message>& sends, std::vector<Message>& receives) {
  shape_ = shape, round_ = 0, values_ = values, add_ = add, terms_ = terms;
  const auto [count, width] = std::pair(shape.count, shape.width);
  sliced_ = is_sliced(shape.ranks, count * width);
  const Index term = (sliced_ ? slice_count(shape.place) : count) * width;
  sends.clear(), receives.clear();
  std::byte* to = terms;
  for (Rank r = 0; r < shape_.ranks; ++r) {
    if (r == shape_.place) continue;
    if (sliced_) {
      sends.push_back({peer(r), values + slice_begin(r) * width, slice_count(r) * width});
    } else {
      sends.push_back({peer(r), values, count * width});
    }
    receives.push_back({peer(r), to, term});
    to += term;
  }
}

bool AllReduce::next_round(std::vector<Message>& sends, std::vector<Message>& receives) {
  if (++round_ == 2) return false;
  const Index width = shape_.width, begin = sliced_ ? slice_begin(shape_.place) : 0,
              count = sliced_ ? slice_count(shape_.place) : shape_.count;
  if (add_ != nullptr) sum_in_rank_order(values_ + begin * width, count);
  if (!sliced_) return false;
  sends.clear(), receives.clear();
  for (Rank r = 0; r < shape_.ranks; ++r) {
    if (r == shape_.place) continue;
    sends.push_back({peer(r), values_ + begin * width, count * width});
    receives.push_back({peer(r), values_ + slice_begin(r) * width, slice_count(r) * width});
  }
  return true;
}

void AllReduce::sum_in_rank_order(std::byte* mine, Index count) {
  constexpr Index kBlockBytes = 4096;  // the running sum stays in the first-level cache
  alignas(64) std::byte sum[kBlockBytes];
  const Index width = shape_.width, block = kBlockBytes / width, term = count * width;
  for (Index begin = 0; begin < count; begin += block) {
    const Index n = std::min(block, count - begin), at = begin * width;
    for (Rank r = 0; r < shape_.ranks; ++r) {
      const std::byte* from =
          r == shape_.place ? mine + at : terms_ + (r < shape_.place ? r : r - 1) * term + at;
      if (r == 0) {
        std::memcpy(sum, from, std::size_t(n * width));
      } else {
        add_(sum, from, n);
      }
    }
    std::memcpy(mine + at, sum, std::size_t(n * width));
  }
}

}  // namespace atl
