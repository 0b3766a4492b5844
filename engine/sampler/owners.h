// Which rank owns which rows of a prepared graph in mini-batch training. Each rank owns consecutive parts,
// and all ranks own about the same number. So a graph is prepared once, and any number of ranks, up to the
// number of parts, train on it with the same batches. RowRequests asks owners for rows.
#pragma once

#include <span>
#include <vector>

#include "base/reusable.h"
#include "base/types.h"
#include "comm/communicator.h"
#include "partition/local_graph.h"

namespace atl {

class Owners {
 public:
  /// `part_offsets` (parts + 1) is PreparedGraph's. Throws Error if there are fewer parts than ranks.
  Owners(std::span<const Index> part_offsets, int ranks);

  /// For full batches: one part per rank, in the order of `ranks`.
  Owners(std::span<const Index> part_offsets, const PartRanks& ranks);

  int ranks() const { return int(first_part_.size()) - 1; }
  int parts() const { return first_part_.back(); }
  /// A rank's parts are first_part(rank) … first_part(rank + 1) − 1, if parts are in the order of ranks;
  /// likewise its rows.
  int first_part(Rank rank) const { return first_part_[place_of(rank)]; }
  int part_count(Rank rank) const { return first_part_[place_of(rank) + 1] - first_part(rank); }
  Index first_row(Rank rank) const { return first_row_[place_of(rank)]; }
  Index rows(Rank rank) const { return first_row_[place_of(rank) + 1] - first_row(rank); }
  bool owns(Rank rank, VertexId row) const {
    return row >= first_row(rank) && row < first_row(rank) + rows(rank);
  }
  Rank owner_of(VertexId row) const;
  /// Part p has rows part_begin(p) … part_begin(p + 1) − 1.
  Index part_begin(int part) const { return part_begin_[std::size_t(part)]; }
  int part_of(VertexId row) const;

 private:
  /// Rank ranks() stands for the end of all parts, whose place is behind the last one.
  std::size_t place_of(Rank rank) const {
    return std::size_t(rank == Rank(first_part_.size()) - 1 ? rank : order_.part_of(rank));
  }
  std::vector<int> first_part_;    // (ranks + 1) by place, ascending
  std::vector<Index> first_row_;   // (ranks + 1) likewise
  PartRanks order_;                // rank of each place
  std::vector<Index> part_begin_;  // (parts + 1)
};

// The rows that a batch wants, grouped by owner and each asked for once, and the rows that other ranks want
// of this one, which it answers in the same order. Structure, ids and features of other ranks' rows are all
// asked for in this way.
//
// Everything travels on one lane, from the thread that samples. Every call is collective: a rank that wants
// nothing takes part, because others may want its rows.

class RowRequests {
 public:
  /// Both arguments outlive it.
  RowRequests(const Owners& owners, Communicator& comm, Lane lane = Lane::kPrefetch);

  /// `rows` may be of any owner, this rank included. Tells each owner which of its rows are wanted.
  void ask(Traffic purpose, std::span<const VertexId> rows);

  /// Wanted rows are grouped by owner, each group in the order of `rows`: wanted row i is rows[places()[i]].
  std::span<const VertexId> places() const { return places_.span(); }
  /// Rows that are asked of this rank, grouped by asking rank, its own requests included.
  std::span<const VertexId> asked() const { return asked_.span(); }
  /// (ranks + 1) the begins of the groups.
  std::span<const Index> wanted_begin() const { return wanted_begin_; }
  std::span<const Index> asked_begin() const { return asked_begin_; }

  /// An array of answers, elements of `width` bytes. `out`: this rank's answers; `in`: the answers that it
  /// gets. Begins are (ranks + 1) element numbers.
  struct Answers {
    const void* out;
    std::span<const Index> out_begin;
    void* in;
    std::span<const Index> in_begin;
    Index width;
  };
  /// Sends and receives all arrays at once. Own answers are copied.
  void answer(Traffic purpose, std::span<const Answers> arrays);
  /// Answers of one element per row.
  template <class T>
  Answers by_row(const Reusable<T>& asked, Reusable<T>& wanted) const {
    return {asked.data(), asked_begin_, wanted.take(places_.size()).data(), wanted_begin_, Index(sizeof(T))};
  }

  Index reallocations() const;

 private:
  void group(std::span<const VertexId> rows);
  void swap_sizes(Traffic purpose);
  void swap(Traffic purpose);

  const Owners& owners_;
  Communicator& comm_;
  Lane lane_;
  Reusable<VertexId> places_, wanted_, asked_;
  Reusable<Rank> owner_of_;  // (rows)
  std::vector<Index> wanted_begin_, asked_begin_, next_;
  std::vector<std::int64_t> wanted_size_, asked_size_;  // (ranks)
  std::vector<Message> sends_, receives_;
};

// The lane on which rows are asked for, and the traffic as which their bytes count.

struct RowRoute {
  Lane lane = Lane::kPrefetch;
  Traffic structure = Traffic::kStructure, ids = Traffic::kIds, features = Traffic::kFeatures;
};

/// For an evaluation by the compute thread, while batches for training may be on their way.
inline constexpr RowRoute kEvaluationRoute{Lane::kBulk, Traffic::kEvaluation, Traffic::kEvaluation,
                                           Traffic::kEvaluation};

}  // namespace atl
