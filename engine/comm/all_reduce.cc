#include "comm/all_reduce.h"

#include <algorithm>
#include <cstring>

namespace atl {
namespace {

constexpr Index kDirectBytes = 32 * 1024;  // below this a second round costs more than the bytes it saves

bool is_sliced(int ranks, Index bytes) {
  return ranks > 2 && bytes > kDirectBytes;
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

Index AllReduce::slice_begin(Rank r) const {
  return atl::slice_begin(r, ranks_, count_);
}
Index AllReduce::slice_count(Rank r) const {
  return atl::slice_count(r, ranks_, count_);
}

void AllReduce::begin(const RankGroup& group, std::byte* values, Index count, Index width, Add add,
                      std::byte* terms, std::vector<Message>& sends, std::vector<Message>& receives) {
  members_ = group.members();
  rank_ = group.place(), ranks_ = group.size(), round_ = 0, values_ = values, count_ = count, width_ = width,
  add_ = add, terms_ = terms;
  sliced_ = is_sliced(ranks_, count * width);
  const Index term = (sliced_ ? slice_count(rank_) : count) * width;
  sends.clear(), receives.clear();
  std::byte* to = terms;
  for (Rank r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
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
  const Index begin = sliced_ ? slice_begin(rank_) : 0, count = sliced_ ? slice_count(rank_) : count_;
  if (add_ != nullptr) sum_in_rank_order(values_ + begin * width_, count);
  if (!sliced_) return false;
  sends.clear(), receives.clear();
  for (Rank r = 0; r < ranks_; ++r) {
    if (r == rank_) continue;
    sends.push_back({peer(r), values_ + begin * width_, count * width_});
    receives.push_back({peer(r), values_ + slice_begin(r) * width_, slice_count(r) * width_});
  }
  return true;
}

void AllReduce::sum_in_rank_order(std::byte* mine, Index count) {
  constexpr Index kBlockBytes = 4096;  // the running sum stays in the first-level cache
  alignas(64) std::byte sum[kBlockBytes];
  const Index block = kBlockBytes / width_, term = count * width_;
  for (Index begin = 0; begin < count; begin += block) {
    const Index n = std::min(block, count - begin), at = begin * width_;
    for (Rank r = 0; r < ranks_; ++r) {
      const std::byte* from = r == rank_ ? mine + at : terms_ + (r < rank_ ? r : r - 1) * term + at;
      if (r == 0) {
        std::memcpy(sum, from, std::size_t(n * width_));
      } else {
        add_(sum, from, n);
      }
    }
    std::memcpy(mine + at, sum, std::size_t(n * width_));
  }
}

}  // namespace atl
