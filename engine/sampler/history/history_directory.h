// Which slots of a rank's cache of historical embeddings can be read in a step, by layer, and how old they
// are. An embedding that is pushed in a step can be read from `delay` steps later on, even if it arrives
// sooner, so that timing never changes what a batch reads. Making a batch needs no values, only this: the
// thread that makes batches has a directory of its own, some steps ahead of the one of the thread that
// trains.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/reusable.h"
#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/row_draws.h"
#include "sampler/structure.h"

namespace atl {

// Of which vertices of other ranks a rank keeps historical embeddings, and which of its own ones others keep
// (Vasimuddin et al. 2022, "DistGNN-MB": the historical embedding cache, and its database of halo vertices).
// They are chosen once, so that a row's slot is known before anything is pushed, and owners push nothing that
// nobody keeps.

/// The rows of others that most arcs to own rows come from, at most `limit` of them, ascending. `graph`:
/// asked for own rows alone, so that nothing is exchanged.
std::vector<VertexId> most_read_rows(Structure& graph, const Owners& owners, Rank rank, Index limit);

/// Nothing changes after it is made: any thread may ask.
class HistoryRows {
 public:
  /// kept: others' rows that have a slot each, ascending. wanted (ranks): own rows that each rank keeps,
  /// ascending; views. `owners` outlives it.
  HistoryRows(const Owners& owners, Rank rank, std::vector<VertexId> kept,
              std::span<const std::span<const VertexId>> wanted);

  bool owns(VertexId row) const { return owners_.owns(rank_, row); }
  Rank rank() const { return rank_; }
  int ranks() const { return owners_.ranks(); }
  Index slots() const { return Index(kept_.size()); }
  /// −1: it isn't kept.
  VertexId slot_of(VertexId row) const { return slots_.find(row); }
  VertexId row_in(VertexId slot) const { return kept_[std::size_t(slot)]; }
  /// Own rows that others keep, once for each of them.
  Index kept_by_others() const { return Index(keepers_.size()); }
  /// (ranks + 1) each owner's rows have slots that follow each other.
  std::span<const VertexId> first_slots() const { return first_slots_; }

  /// Who keeps an own row, and which one it is of this rank's rows that are kept there.
  struct Keeper {
    Rank rank;
    VertexId place;
  };
  std::span<const Keeper> keepers_of(VertexId row) const {
    const auto at = std::size_t(row - first_row_);
    return {keepers_.data() + begins_[at], std::size_t(begins_[at + 1] - begins_[at])};
  }
  Index bytes() const;

 private:
  const Owners& owners_;
  const Rank rank_;
  const VertexId first_row_;
  std::vector<VertexId> kept_, first_slots_;
  RowTable slots_;
  std::vector<Index> begins_;  // (owned + 1)
  std::vector<Keeper> keepers_;
};

/// Chooses at most `limit` rows and tells their owners. Collective, from the thread that computes, before any
/// batch is made. `owners` outlives it.
std::unique_ptr<HistoryRows> history_rows(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                          Index limit);

/// The rows whose embeddings travel one way in a step: rows of the batch that leave, or slots that are
/// filled. A peer's rows are in the order of the sender's batch, in which rows that deeper layers have come
/// first.
struct PushedRows {
  Reusable<VertexId> rows;    // by peer
  std::vector<Index> begins;  // (ranks + 1)
  // (ranks, inner layers) how many of a peer's rows, from the first on, travel for that layer
  std::vector<Index> counts;

  void take(const PushedRows& other);
  /// The peer's rows that travel for inner layer `layer`, from 0.
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

  /// What was pushed `delay` steps before `step`, in the order of peers; null: nothing was, as at a run's
  /// beginning.
  const PushedRows* due(std::int64_t step) const;
  /// Begins `step`, the one after the last: what is due in it can be read from now on.
  void begin(std::int64_t step);
  std::int64_t step() const { return step_; }
  /// Notes the rows that this step's pushes bring to this rank.
  void add(const PushedRows& arriving);
  /// Takes over the state of another directory of the same rows.
  void take(const HistoryDirectory& other);

  /// The slot of another rank's `row`, whose embedding the gathering layer `layer` (from 1) reads; −1: it
  /// isn't kept, or is too old.
  VertexId find(int layer, VertexId row) const {
    const VertexId slot = rows_->slot_of(row);
    if (slot < 0) return slot;
    return step_ - pushed_[index(layer - 1, slot)] <= options_.max_age ? slot : -1;
  }

  /// How many steps ago the slot's embedding of inner layer `layer` (from 0) was pushed; most_age() where it
  /// is too old to be read.
  std::int64_t age(int layer, VertexId slot, std::int64_t step) const;
  void set_age(int layer, VertexId slot, std::int64_t step, std::int64_t age);
  std::int64_t most_age() const { return options_.max_age + 1; }
  /// What was pushed in `step`, if it is on its way.
  const PushedRows* pushed_in(std::int64_t step) const;
  /// Room for it: whoever resumes fills it in.
  PushedRows& put(std::int64_t step);

  Index reallocations() const;
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

// A step's neighbours of other ranks, within the batch: in inner layers they are leaves, whose rows come from
// the cache and not from neighbours of theirs. What isn't kept, or is too old, is left out of the sum; what
// remains of a row's drawn neighbours then stands for all of its neighbours, d / (k − m) each with m of k
// left out.

/// What a gathering layer reads from the cache.
struct Leaves {
  Reusable<VertexId> rows, slots;  // each once: prepared rows
  Reusable<VertexId> ids;          // (sources) the data set's of the layer's own rows, then of the leaves
  Reusable<Real> scales;           // (sources) likewise; empty: all 1

  void clear() { rows.take(0), slots.take(0), ids.take(0), scales.take(0); }
  Index size() const { return rows.size(); }
  Index reallocations() const {
    return rows.reallocations() + slots.reallocations() + ids.reallocations() + scales.reallocations();
  }
  Index bytes() const { return rows.bytes() + slots.bytes() + ids.bytes() + scales.bytes(); }
};

/// One per sampling thread.
class HistoryCut {
 public:
  /// Drops the arcs whose sources can't be read, and lists sources that other ranks own as leaves: the arc's
  /// column becomes −1 − the leaf's number. rows: the destinations of `arcs`. factors() then says how much
  /// each row's remaining neighbours count.
  void cut(const HistoryDirectory& known, int layer, const HopDraw& hop, std::span<const VertexId> rows,
           DrawnArcs& arcs, Leaves& leaves);
  /// (rows) by row; its self-loops stand for themselves.
  std::span<const float> factors() const { return factors_.span(); }
  Index reallocations() const { return factors_.reallocations() + numbers_.reallocations(); }

 private:
  RowTable numbers_;  // of leaves, by slot
  Reusable<float> factors_;
};

}  // namespace atl
