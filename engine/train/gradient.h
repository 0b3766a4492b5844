// A step's gradient over ranks, by where each parameter lives (Placement): summed over the ranks that hold
// the same rows, then checked and clipped as one vector in which every row counts once. A layer's sum begins
// when backward has finished the layer, or a part of its rows (ParameterSpec::parts), and travels while
// backward goes on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm/device_sums.h"
#include "model/parameters.h"
#include "tensor/buffer.h"
#include "tensor/context.h"
#include "tensor/copies.h"
#include "tensor/kernels.h"

namespace atl {

// Sums a layer's gradients over ranks where only few features have a value in the step's rows. In a weight
// with a row per feature, the rows of all other features have gradient 0 on every rank, so only the rest
// travels, packed. The sums have the same bits as unpacked ones.

class TouchedRows {
 public:
  /// `layer`: one whose parameters every rank holds whole.
  TouchedRows(Context& ctx, Communicator& comm, Parameters& parameters, int layer);

  int layer() const { return layer_; }
  /// Which features have a value in the rows of some rank's batch; the same on all ranks.
  void choose(Context& ctx, std::span<const VertexId> features);
  /// Collective.
  void begin_sum(Context& ctx, Communicator& comm);
  void finish_sum(Context& ctx);
  Index bytes() const { return packed_.held_bytes() + sum_.bytes() + copies_.bytes(); }

 private:
  /// Consecutive rows of the gradient. Where a weight has a row per feature, only the chosen rows are summed.
  struct Piece {
    MatrixView values;
    bool by_feature;
  };
  template <class Visit>
  void for_each_piece(Visit visit);

  int layer_;
  std::vector<Piece> pieces_;
  RankGroup everyone_;
  DeviceSum sum_;
  Matrix packed_;  // (1, elements)
  Index count_ = 0;
  DeviceCopies copies_;
  std::span<const VertexId> features_;  // where kernels read them
};

// A run of neighbouring parameters that the same ranks hold, which is summed over those ranks at once.

class ReplicatedRun {
 public:
  /// Sums `values` of this rank, in the memory of ctx's device, with those of `replicas` (as in Placement).
  /// They must outlive it. Allocates all that a sum needs. Unless `deterministic`, linked devices may sum
  /// over all ranks themselves, in any order.
  ReplicatedRun(Context& ctx, const Communicator& comm, const std::vector<Rank>& replicas,
                std::span<Real> values, bool deterministic);

  /// Begins to sum in place, in rank order unless devices sum, so that all replicas get the same bits.
  /// Collective over the replicas.
  void begin_sum(Context& ctx, Communicator& comm);
  /// Returns when the sum that was begun is complete.
  void finish_sum(Context& ctx);
  bool begun() const { return begun_; }
  Index bytes() const { return sum_.bytes(); }

  std::span<Real> values() const { return values_; }
  bool everywhere() const { return replicas_->everyone(); }
  /// Whether this rank is the first one that holds the run. Where only some ranks hold it, that one counts
  /// it.
  bool counted_here() const { return replicas_->place() == 0; }

 private:
  std::unique_ptr<RankGroup> replicas_;  // its address must not change while sums are under way
  std::span<Real> values_;
  bool on_devices_;  // whether devices sum
  DeviceSum sum_;    // for a sum on the host
  bool begun_ = false;
  Event arrival_;  // for a sum on devices
};

/// One per rank. References must outlive it.
class Gradient {
 public:
  /// deterministic: training.deterministic.
  Gradient(Context& ctx, Communicator& comm, Parameters& parameters, bool deterministic = true);

  /// As TrainingStep::touches(), for the step that follows.
  void touches(Context& ctx, int layer, std::span<const VertexId> features);
  /// Zeroes the gradients before a step's backward.
  void clear(Context& ctx);
  /// Begins to sum a layer's gradients, which are complete on this rank, over the ranks that hold the same
  /// rows. First counts the elements that aren't finite. Collective.
  void begin_sum(Context& ctx, int layer);
  /// Begins to sum only one of the layer's ParameterSpec::parts; begin_sum() later sums the rest.
  void begin_part(Context& ctx, int layer, int part);
  /// Begins the sums that weren't begun, and returns when all are complete. Terms are added in rank order
  /// where `deterministic`, or devices can't sum. Collective.
  void sum(Context& ctx);
  /// Call after sum(): sets state->not_finite for the whole model's gradient; the same on all ranks.
  /// Collective.
  void count_non_finite(Context& ctx, StepState* state);
  /// Call after count_non_finite(): scales the whole model's gradient down to the 2-norm `longest`; 0: no
  /// limit. Collective.
  void clip(Context& ctx, double longest, StepState* state);
  /// Which of Parameters::entries() had a gradient on this rank that wasn't finite when its sum began, or has
  /// one now; −1: none. Of several it is the last one, because backward begins at the last layer. Not
  /// collective; waits for the device.
  int last_non_finite_share(Context& ctx) const;
  int last_non_finite(Context& ctx);
  /// Bytes of the memory for what other ranks send.
  Index bytes() const;

 private:
  void count_shares(Context& ctx, int layer, std::optional<int> part);
  bool sums_touched(int layer) const { return is_touched_ && touched_->layer() == layer; }
  void sum_counts(Context& ctx, double* count);
  int last_entry(Context& ctx, const Buffer<double>& counts) const;
  MatrixView all() { return {parameters_.gradients().data(), 1, Index(parameters_.gradients().size())}; }

  Communicator& comm_;
  Parameters& parameters_;
  struct Run {
    int layer;
    int part;  // the part; −1: all that is summed with the layer
    ReplicatedRun values;
  };
  /// The values of an entry that are in one run.
  struct Piece {
    int entry;
    int part;  // as in Run
    Index offset, count;
    std::size_t run = 0;
  };
  static std::vector<Piece> pieces_of(const std::vector<Parameters::Entry>& entries);

  std::vector<Piece> pieces_;  // in the order of parameters, which is the same on all ranks; runs too
  std::vector<Run> runs_;
  std::optional<TouchedRows> touched_;  // none: no step has called touches() with features
  bool is_touched_ = false;             // whether the step's gradient of that layer is summed by touched_
  DeviceSum counts_;                    // sums counts of values that ranks hold separately
  Buffer<double> shares_;               // (pieces) this rank's elements that aren't finite
};

}  // namespace atl
