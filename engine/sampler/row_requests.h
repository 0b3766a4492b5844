// The rows that a batch wants, grouped by owner and each asked for once, and the rows that other ranks want
// of this one, which it answers in the same order. Structure, ids and features that aren't here all use it.
//
// Everything travels on one lane, from the thread that samples. Every call is collective: a rank that wants
// nothing takes part, because others may want its rows.
#pragma once

#include <span>
#include <vector>

#include "base/reusable.h"
#include "comm/communicator.h"
#include "sampler/owners.h"

namespace atl {

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
