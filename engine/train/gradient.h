// A step's gradient over ranks, by where each parameter lives (Placement): summed over the ranks that hold
// the same rows, judged and clipped as one vector of which every row counts once. A layer's part of the sum
// begins when backward has left the layer, or a part of its rows (ParameterSpec::parts), and travels while
// backward goes on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "comm/device_sums.h"
#include "model/parameters.h"
#include "tensor/buffer.h"
#include "tensor/context.h"
#include "tensor/kernels.h"
#include "train/touched_rows.h"

namespace atl {

// A run of neighbouring parameters that the same ranks hold alike: what one sum over those ranks makes whole.

class ReplicatedRun {
 public:
  /// `values` of this rank, memory of ctx's device, are to be summed with those of `replicas` (as in
  /// Placement) and outlive it. Allocates all that a sum needs. Not `deterministic`: linked devices may sum
  /// over all ranks themselves, in any order.
  ReplicatedRun(Context& ctx, const Communicator& comm, const std::vector<Rank>& replicas,
                std::span<Real> values, bool deterministic);

  /// Begins to sum in place, in rank order unless devices do, so that all replicas get the same bits.
  /// Collective over the replicas.
  void begin_sum(Context& ctx, Communicator& comm);
  /// Returns when the sum that was begun is whole.
  void finish_sum(Context& ctx);
  bool begun() const { return begun_; }
  Index bytes() const { return sum_.bytes(); }

  std::span<Real> values() const { return values_; }
  bool everywhere() const { return replicas_->everyone(); }
  /// Where only some ranks hold it: whether this one, the first of them, is the one that counts it.
  bool counted_here() const { return replicas_->place() == 0; }

 private:
  std::unique_ptr<RankGroup> replicas_;  // where it stays, for the sums that are under way
  std::span<Real> values_;
  bool on_devices_;  // they sum
  DeviceSum sum_;    // otherwise
  bool begun_ = false;
  Event arrival_;  // of a sum on devices
};

/// One per rank. References outlive it.
class Gradient {
 public:
  /// deterministic: training.deterministic.
  Gradient(Context& ctx, Communicator& comm, Parameters& parameters, bool deterministic = true);

  /// As TrainingStep::touches(), for the step that follows.
  void touches(Context& ctx, int layer, std::span<const VertexId> features);
  /// Zeros, before a step's backward.
  void clear(Context& ctx);
  /// Begins to sum a layer's gradients, which are complete on this rank, over the ranks that hold the same
  /// rows. Counts the elements that aren't finite first. Collective.
  void begin_sum(Context& ctx, int layer);
  /// Begins to sum only one of the layer's ParameterSpec::parts; begin_sum() follows for the rest.
  void begin_part(Context& ctx, int layer, int part);
  /// Returns when all are summed, in rank order where that is wanted or devices can't; begins what hasn't
  /// been. Collective.
  void sum(Context& ctx);
  /// After sum(): state->not_finite of the whole model's gradient; the same on all ranks. Collective.
  void count_non_finite(Context& ctx, StepState* state);
  /// After that: scales the whole model's gradient down to the 2-norm `longest`; 0: no limit. Collective.
  void clip(Context& ctx, double longest, StepState* state);
  /// Which of Parameters::entries() had, on this rank when its sum began, a gradient that wasn't finite, or
  /// has one now; −1: none. The last of them, for backward comes to the last layer first. Not collective;
  /// waits for the device.
  int last_non_finite_share(Context& ctx) const;
  int last_non_finite(Context& ctx);
  /// Held for what other ranks send.
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
    int part;  // that it is; −1: what is whole with the layer
    ReplicatedRun values;
  };
  /// What of an entry is in one run.
  struct Piece {
    int entry;
    int part;  // as Run's
    Index offset, count;
    std::size_t run = 0;
  };
  static std::vector<Piece> pieces_of(const std::vector<Parameters::Entry>& entries);

  std::vector<Piece> pieces_;  // in the order of parameters, which is the same on all ranks; and so are runs
  std::vector<Run> runs_;
  std::optional<TouchedRows> touched_;  // none: no step has said which rows are
  bool is_touched_ = false;             // the step's gradient of that layer is summed there
  DeviceSum counts_;                    // of what ranks hold apart
  Buffer<double> shares_;               // (pieces) elements of this rank's own that aren't finite
};

}  // namespace atl
