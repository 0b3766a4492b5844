// A sum over ranks whose bits don't depend on the transport, the run or the rank. Every element is added in
// rank order, ((v0 + v1) + v2) + …, however the arrays travel.
//   direct  Every rank sends its whole array to all others and adds all arrays: one round, (P − 1) n sent.
//   sliced  Rank r receives slice r from all others, adds it and sends the sum to all: two rounds, about
//           2 (P − 1) n / P sent.
// Direct serves small arrays, for which latency counts, and two ranks, for which the bytes are the same.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "comm/transports.h"

namespace atl {

class RankGroup;

/// Bytes that the rank at place `rank` of a group of `ranks` sends in one all-reduce of `count` elements of
/// `width` bytes: the ledger's formula.
std::int64_t all_reduce_bytes(int ranks, Rank rank, Index count, Index width);

/// Bytes that the rank holds during the sum besides the array: the arrays or slices received from others.
std::int64_t all_reduce_memory(int ranks, Rank rank, Index count, Index width);

/// Bytes that `rank` sends to the next one in a ring sum (Patarasuk & Yuan 2009), which the links of devices
/// are assumed to use. Every rank passes on all slices but one, once while they are added up and once while
/// the sums go round.
std::int64_t ring_bytes(int ranks, Rank rank, Index count, Index width);

/// The shape of a sum: `count` elements of `width` bytes on each rank of a group.
struct SumShape {
  std::span<const Rank> members;  // ascending; empty: all ranks
  Rank place = 0;                 // this rank's place among the members
  int ranks = 1;                  // ranks of the group
  Index count = 0, width = 0;
};
SumShape sum_shape(const RankGroup& group, Index count, Index width);

/// The rounds of messages of one all-reduce. Uses no thread and no transport. Reusable.
class AllReduce {
 public:
  using Add = void (*)(std::byte* sum, const std::byte* term, Index count);

  /// Fills the first round's messages. `values` is summed in place; `terms` has room for all_reduce_memory()
  /// bytes. If `add` is null nothing is summed, and only the messages are made. The shape's members outlive
  /// the sum.
  void begin(const SumShape& shape, std::byte* values, Add add, std::byte* terms, std::vector<Message>& sends,
             std::vector<Message>& receives);
  const SumShape& shape() const { return shape_; }
  /// Call when a round's messages have all arrived: adds their contents. True if there is a next round, whose
  /// messages are then filled in; false when `values` holds the sum.
  bool next_round(std::vector<Message>& sends, std::vector<Message>& receives);
  /// Bytes that the second round sends to each peer; 0 if there is no second round.
  Index second_round_bytes() const { return sliced_ ? slice_count(shape_.place) * shape_.width : 0; }

 private:
  Index slice_begin(Rank r) const;
  Index slice_count(Rank r) const;
  void sum_in_rank_order(std::byte* mine, Index count);

  Rank peer(Rank place) const { return shape_.members.empty() ? place : shape_.members[std::size_t(place)]; }

  SumShape shape_;
  int round_ = 0;
  bool sliced_ = false;
  std::byte* values_ = nullptr;
  Add add_ = nullptr;
  std::byte* terms_ = nullptr;  // arrays or slices of the other ranks, in rank order
};

}  // namespace atl
