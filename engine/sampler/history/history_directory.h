// Which slots of a rank's cache of historical embeddings can be read in a step, by layer, and how old they
// are. An embedding pushed in a step can be read `delay` steps later, even if it arrives sooner, so that
// timing never changes what a batch reads. Making a batch needs this directory but no values. The thread that
// makes batches has a directory of its own, some steps ahead of the training thread's.
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "base/reusable.h"
#include "graph/row_table.h"
#include "sampler/owners.h"
#include "sampler/structure.h"

namespace atl {

// Which other ranks' vertices a rank keeps historical embeddings of, and which of its own vertices others
// keep (Vasimuddin et al. 2022, "DistGNN-MB": the historical embedding cache, and its database of halo
// vertices). The kept vertices are chosen once. So a row's slot is known before anything is pushed, and
// owners push only what some rank keeps.

/// Returns at most `limit` rows of other ranks, ascending: those from which the most arcs come to own rows.
/// `graph` is asked only for own rows, so nothing is exchanged.
std::vector<VertexId> most_read_rows(Structure& graph, const Owners& owners, Rank rank, Index limit);

/// Immutable after construction, so any thread may ask.
class HistoryRows {
 public:
  /// `kept`: other ranks' rows that have a slot each, ascending. `wanted` (ranks): own rows that each rank
  /// keeps, ascending; views. `owners` outlives it.
  HistoryRows(const Owners& owners, Rank rank, std::vector<VertexId> kept,
              std::span<const std::span<const VertexId>> wanted);

  bool owns(VertexId row) const { return owners_.owns(rank_, row); }
  Rank rank() const { return rank_; }
  int ranks() const { return owners_.ranks(); }
  Index slots() const { return Index(kept_.size()); }
  /// The row's slot; −1: it isn't kept.
  VertexId slot_of(VertexId row) const { return slots_.find(row); }
  VertexId row_in(VertexId slot) const { return kept_[std::size_t(slot)]; }
  /// Own rows that others keep, counted once per keeper.
  Index kept_by_others() const { return Index(keepers_.size()); }
  /// (ranks + 1) the first slot of each owner's rows, which have adjacent slots.
  std::span<const VertexId> first_slots() const { return first_slots_; }

  /// A rank that keeps an own row. `place` is the row's place among all rows of this rank that the keeper
  /// keeps.
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

/// Chooses at most `limit` rows and tells their owners. Collective; called by the compute thread before any
/// batch is made. `owners` outlives it.
std::unique_ptr<HistoryRows> history_rows(const DrawnGraph& graph, const Owners& owners, Communicator& comm,
                                          Index limit);

/// The rows whose embeddings a rank sends in a step, as rows of its batch, or those that it receives, as
/// slots. A peer's rows are in the order of the sender's batch, where rows that deeper layers compute come
/// first.
struct PushedRows {
  Reusable<VertexId> rows;    // by peer
  std::vector<Index> begins;  // (ranks + 1)
  // (ranks, inner layers) how many of a peer's first rows travel for that layer
  std::vector<Index> counts;

  void take(const PushedRows& other);
  /// The peer's rows that travel for inner layer `layer`, counted from 0.
  std::span<const VertexId> of(Rank peer, int layer) const;
  Index all_of(int layer) const;
};

struct HistoryOptions {
  Index rows = 0;          // the most rows of other ranks that a rank keeps
  int layers = 0;          // number of inner layers: all gathering layers except the one nearest to the input
  std::int64_t delay = 1;  // steps from a push to its use
  std::int64_t max_age = 1;  // in steps, when an embedding is read; `delay` or more
};

class HistoryDirectory {
 public:
  /// `rows` outlives it.
  HistoryDirectory(const HistoryRows& rows, const HistoryOptions& options);

  const HistoryRows& rows() const { return *rows_; }
  const HistoryOptions& options() const { return options_; }

  /// The rows pushed `delay` steps before `step`, in the order of peers; null: none were, as at the beginning
  /// of a run.
  const PushedRows* due(std::int64_t step) const;
  /// Begins `step`, which follows the step begun last. The rows that are due in it can be read from now on.
  void begin(std::int64_t step);
  std::int64_t step() const { return step_; }
  /// Notes the rows that this step's pushes bring to this rank.
  void add(const PushedRows& arriving);
  /// Takes over the state of another directory of the same rows.
  void take(const HistoryDirectory& other);

  /// The slot from which the gathering layer `layer` (from 1) reads the embedding of another rank's `row`;
  /// −1: the row isn't kept, or its embedding is too old.
  VertexId find(int layer, VertexId row) const {
    const VertexId slot = rows_->slot_of(row);
    if (slot < 0) return slot;
    return step_ - pushed_[index(layer - 1, slot)] <= options_.max_age ? slot : -1;
  }

  /// How many steps before `step` the slot's embedding of inner layer `layer` (from 0) was pushed; most_age()
  /// if it is too old to be read.
  std::int64_t age(int layer, VertexId slot, std::int64_t step) const;
  void set_age(int layer, VertexId slot, std::int64_t step, std::int64_t age);
  std::int64_t most_age() const { return options_.max_age + 1; }
  /// The rows pushed in `step`, if they are still on their way.
  const PushedRows* pushed_in(std::int64_t step) const;
  /// Makes an entry for `step`, which a resuming run fills in.
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
  std::vector<std::int64_t> pushed_;  // (inner layers, slots) the step of the last push; kNever: none yet
  std::vector<Push> pushes_;          // (delay + 1) by step: the step that is due and those after it
};

// Neighbours on other ranks within a step's batch. In inner layers they are leaves, whose embeddings come
// from the cache and aren't computed from their own neighbours. Neighbours whose embedding isn't kept, or is
// too old, are left out of the sum. If m of the k drawn neighbours of a row are left out, each remaining one
// stands for d / (k − m) of the row's d neighbours.

/// The cached rows that a gathering layer reads.
struct Leaves {
  Reusable<VertexId> rows, slots;  // prepared rows, each once, and their slots
  Reusable<VertexId> ids;          // (sources) the data set's ids of the layer's own rows, then of the leaves
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
  /// Drops arcs whose sources can't be read, and lists sources that other ranks own as leaves: such an arc's
  /// column becomes −1 − the leaf's number. `rows` are the destinations of `arcs`. Afterwards factors() says
  /// how much each row's remaining neighbours count.
  void cut(const HistoryDirectory& known, int layer, const HopDraw& hop, std::span<const VertexId> rows,
           DrawnArcs& arcs, Leaves& leaves);
  /// (rows) the factor of each row's neighbours; self-loops count 1.
  std::span<const float> factors() const { return factors_.span(); }
  Index reallocations() const { return factors_.reallocations() + numbers_.reallocations(); }

 private:
  RowTable numbers_;  // the leaves' numbers by slot
  Reusable<float> factors_;
};

}  // namespace atl
