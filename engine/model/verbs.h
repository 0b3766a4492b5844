// The seam between models and strategies, in the verbs of P3 (Gandhi & Iyer 2021, section 3.5: P-TAGS):
// partition, scatter, gather, transform, sync, apply. A model is written once against this interface; a
// strategy implements it.
//
//   partition, scatter   are the strategy's own: it cuts the graph and moves rows. A model never sees them.
//   gather               brings the rows that the destinations read, block by block (halo exchange,
//         broadcast, history, sampling). The model pulls the blocks (model/gather.h), does its row-wise work
//         on each (dropout, transform, scores) and adds it to its sum. On the way back it pulls the same
//         blocks and leaves a gradient for each block's rows, which the strategy carries to the rows' owners.
//   transform, apply     are kernels (tensor/kernels.h): gemm and epilogues, called by the model itself.
//   sync                 makes partial products whole where a strategy splits the input's columns
//         (model/gather.h).
//   reduce               column statistics over every vertex once (batch norm).
//
// A Verbs object is bound by the strategy to one layer of one pass (an epoch, a chunk, a mini-batch) and
// lives on the rank's compute thread. What a layer may know of that pass is numbers, in PassState.
#pragma once

#include <limits>
#include <span>

#include "base/random.h"
#include "model/gather.h"

namespace atl {

/// Where a pass stands: at one layer of one step. Views last until the pass is bound to another.
struct PassState {
  /// False in evaluation: nothing is dropped out, and running statistics are used and not changed.
  bool training = false;
  /// A forward is repeated for its activations (recompute: layer): running statistics don't change.
  bool repeating = false;
  /// These key draws.
  std::uint64_t seed = 1;
  std::int64_t step = 0;
  /// The first so many rows of the layer's input are all that other ranks read: a gather may begin when these
  /// are computed, and the others when its first source is asked for.
  Index boundary = std::numeric_limits<Index>::max();
  /// Those rows where other ranks don't read them as they lie there (DropsOut), (boundary, in); or empty.
  ConstMatrixView sent{};
  /// Rows of the layer's output, and their original vertex ids.
  Index destinations = 0;
  std::span<const VertexId> ids{};
  /// (destinations) What each counts in a reduced sum, so that a vertex which several ranks compute counts
  /// once; empty: 1 each.
  std::span<const Real> weights{};
  /// Their sum over all ranks that share the pass: how many vertices there are.
  double reduced_rows = 0;

  // Of a layer whose input has some of its columns here:
  Columns* columns = nullptr;             // null: it has all of them
  Index first_column = 0;                 // of the whole input, that is here
  std::span<const VertexId> group_ids{};  // of the group's rows, which every rank of it aggregates for

  /// Of the rows that the layer aggregates for.
  std::span<const VertexId> aggregated_ids() const { return columns == nullptr ? ids : group_ids; }
};

class Verbs {
 public:
  /// The context outlives it.
  explicit Verbs(Context& ctx) : ctx_(ctx) {}
  virtual ~Verbs() = default;

  Context& context() const { return ctx_; }
  const PassState& state() const { return state_; }
  /// The stream of draws for this pass's step. `layer` counts the model's layers.
  Draws draws(Purpose purpose, int layer) const {
    return Draws(state_.seed, purpose, std::uint64_t(state_.step), std::uint64_t(layer));
  }

  /// Starts to bring the rows that the destinations read. rows (own, in): what this pass holds of the layer's
  /// input. The object is the strategy's; it is done when its last source has been pulled.
  virtual Gather& gather(const Rows& rows) = 0;
  /// The way back: the same blocks, in an order of its own. d_rows (own, in) holds the gradient of `rows`,
  /// contributions of other ranks included, once the last one has been pulled. Empty: the layer's input takes
  /// no gradient, and no block's rows do.
  virtual Gather& gather_back(const Rows& rows, MatrixView d_rows) = 0;
  /// Sums `values` over all ranks that share this pass.
  virtual void reduce(std::span<double> values) = 0;

  /// Dropout of this pass at `rate` for whole rows with the given ids; off in evaluation.
  Dropout dropout(double rate, Purpose purpose, int layer, std::span<const VertexId> ids) const {
    return state_.training && rate > 0 ? Dropout{rate, draws(purpose, layer), ids} : Dropout{};
  }
  /// Of rows of the layer's input, which may have some of their columns here.
  Dropout input_dropout(double rate, Purpose purpose, int layer, std::span<const VertexId> ids) const {
    Dropout dropped = dropout(rate, purpose, layer, ids);
    dropped.first_column = state_.first_column;
    return dropped;
  }

 protected:
  Context& ctx_;
  PassState state_;
};

}  // namespace atl
