// What a rank's cache of historical embeddings holds in a step: of which slots, of which age, by layer. What is pushed in a step is there
// from `delay` steps on, whenever it came, so that what a batch reads depends on no timing. Which rows those are is known when batches are
// made, without a look at a value: a directory goes ahead with who makes batches, and another one with who trains.
#pragma once

#include <limits>
#include <span>
#include <vector>

#include "base/recycled.h"
#include "sampler/history/history_rows.h"

namespace atl {

/// Rows of a step whose embeddings cross, one way: rows of the batch that leave, or slots that they arrive for. A peer's are in the order
/// of the batch that they are of, where rows that deeper layers have come first.
struct PushedRows {
  Recycled<VertexId> rows;    // by peer
  std::vector<Index> begins;  // (ranks + 1)
  std::vector<Index>
      counts;  // (ranks, inner layers) of a peer's rows, the first so many cross for that layer

  void take(const PushedRows& other);
  /// Of an inner layer, from 0.
  std::span<const VertexId> of(Rank peer, int layer) const;
  Index all_of(int layer) const;
};

struct HistoryOptions {
  Index rows = 0;            // of others that are kept, at most
  int layers = 0;            // inner ones: that gather, but for the one nearest to the input
  std::int64_t delay = 1;    // steps from a push to its use
  std::int64_t max_age = 1;  // in steps, at the use; `delay` or more
};

class HistoryDirectory {
 public:
  /// `rows` outlives it.
  HistoryDirectory(const HistoryRows& rows, const HistoryOptions& options);

  const HistoryRows& rows() const { return *rows_; }
  const HistoryOptions& options() const { return options_; }

  /// What was pushed `delay` steps before `step`, in the order of peers; null: nothing was, as at a run's beginning.
  const PushedRows* due(std::int64_t step) const;
  /// Steps follow each other: what is due is there from now on.
  void begin(std::int64_t step);
  std::int64_t step() const { return step_; }
  /// What arrives of what is pushed in this step.
  void add(const PushedRows& arriving);
  /// As another one of the same rows is.
  void take(const HistoryDirectory& other);

  /// Where the embedding lies that `row` of another rank has as an input of the gathering layer `layer` (from 1); −1: it isn't kept, or
  /// is too old.
  VertexId find(int layer, VertexId row) const {
    const VertexId slot = rows_->slot_of(row);
    if (slot < 0) return slot;
    return step_ - pushed_[index(layer - 1, slot)] <= options_.max_age ? slot : -1;
  }

  /// Of inner layer `layer` (from 0): how many steps ago the slot's embedding was pushed, most_age() where nothing is used of it any more.
  std::int64_t age(int layer, VertexId slot, std::int64_t step) const;
  void set_age(int layer, VertexId slot, std::int64_t step, std::int64_t age);
  std::int64_t most_age() const { return options_.max_age + 1; }
  /// What was pushed in `step`, if it is on its way.
  const PushedRows* pushed_in(std::int64_t step) const;
  /// Room for it: whoever resumes fills it in.
  PushedRows& put(std::int64_t step);

  Index growths() const;
  Index bytes() const;

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int32_t>::min();
  struct Push {
    std::int64_t step = kNever;
    PushedRows arriving;
  };
  std::size_t index(int layer, VertexId slot) const {
    return std::size_t(layer) * std::size_t(rows_->slots()) + std::size_t(slot);
  }
  Push& place_of(std::int64_t step) { return pushes_[std::size_t(step) % pushes_.size()]; }

  const HistoryRows* rows_;
  HistoryOptions options_;
  std::int64_t step_ = 0;
  std::vector<std::int64_t> pushed_;  // (inner layers, slots) in which step; kNever: not yet
  std::vector<Push> pushes_;          // (delay + 1) by step: what is due stays while this step's comes
};

}  // namespace atl
