// Rows that a batch wants of their owners, asked for once, grouped by owner; and the rows that others want of
// this rank, which it answers in the same order. What structure, ids and features that aren't here have in
// common.
//
// Everything travels on one lane, from the thread that samples, and every call is collective: a rank that
// wants nothing takes part, because others want something of it.
#pragma once

#include <span>
#include <vector>

#include "base/reusable.h"
#include "comm/communicator.h"
#include "sampler/owners.h"

namespace atl {

class RowRequests {
 public:
  /// Both outlive it.
  RowRequests(const Owners& owners, Communicator& comm, Lane lane = Lane::kPrefetch);

  /// rows: of any owner, this rank among them. Sends each owner which of its rows are wanted.
  void ask(Traffic purpose, std::span<const VertexId> rows);

  /// Wanted rows are grouped by owner, each group in the order of `rows`: places()[i] is where wanted row i
  /// stands in `rows`.
  std::span<const VertexId> places() const { return places_.span(); }
  /// Rows that are asked of this rank, grouped by who asks; its own wishes are among them.
  std::span<const VertexId> asked() const { return asked_.span(); }
  /// (ranks + 1) where the groups begin.
  std::span<const Index> wanted_begin() const { return wanted_begin_; }
  std::span<const Index> asked_begin() const { return asked_begin_; }

  /// An array that answers: elements of `width` bytes. out: this rank's answers; in: what others answer it.
  /// Begins are (ranks + 1) element numbers.
  struct Answers {
    const void* out;
    std::span<const Index> out_begin;
    void* in;
    std::span<const Index> in_begin;
    Index width;
  };
  /// Sends and receives all of the arrays at once. Own answers are copied.
  void answer(Traffic purpose, std::span<const Answers> arrays);
  /// One element a row.
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

// On which lane rows are asked for, and as what their bytes are counted.

struct RowRoute {
  Lane lane = Lane::kPrefetch;
  Traffic structure = Traffic::kStructure, ids = Traffic::kIds, features = Traffic::kFeatures;
};

/// Of an evaluation, by the compute thread, while batches for training may be on their way.
inline constexpr RowRoute kEvaluationRoute{Lane::kBulk, Traffic::kEvaluation, Traffic::kEvaluation,
                                           Traffic::kEvaluation};

}  // namespace atl
