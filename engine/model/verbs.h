// The seam between models and strategies, in the verbs of P3 (Gandhi & Iyer 2021, section 3.5: P-TAGS):
// partition, scatter, gather, transform, sync, apply. A model is written once against this interface; a
// strategy implements it.
//
//   partition, scatter: the strategy cuts the graph and moves rows. A model never sees this.
//   gather: brings the rows that the destinations read, block by block (halo exchange, broadcast, history,
//     sampling). The model pulls the blocks (model/gather.h), does its row-wise work on each (dropout,
//     transform, scores) and adds it to its sum. On the way back it pulls the same blocks and leaves a
//     gradient for each block's rows, which the strategy carries to the rows' owners.
//   transform, apply: kernels (tensor/kernels.h), gemm and epilogues, which the model calls itself.
//   sync: makes partial products whole where a strategy splits the input's columns (model/gather.h).
//   reduce: column statistics that count every vertex once (batch norm).
//
// The strategy binds a Verbs object to one layer of one pass (an epoch, a chunk, a mini-batch). It lives on
// the rank's compute thread. A layer knows that pass only by the numbers in PassState.
#pragma once

#include <limits>
#include <span>

#include "base/random.h"
#include "model/gather.h"

namespace atl {

/// Where a pass is: at one layer of one step. Views are valid until the pass moves on to another layer.
struct PassState {
  /// False in evaluation: nothing is dropped out, and running statistics are used and not changed.
  bool training = false;
  /// A forward is repeated for its activations (recompute: layer), so running statistics don't change.
  bool repeating = false;
  /// The keys of draws.
  std::uint64_t seed = 1;
  std::int64_t step = 0;
  /// All rows of the layer's input that other ranks read are among the first `boundary` ones. A gather may
  /// begin when these are computed; the others must be computed when its first source is asked for.
  Index boundary = std::numeric_limits<Index>::max();
  /// (boundary, in): what other ranks get instead of these rows, where the two differ (DropsOut); otherwise
  /// empty.
  ConstMatrixView sent{};
  /// Rows of the layer's output, and their original vertex ids.
  Index destinations = 0;
  std::span<const VertexId> ids{};
  /// (destinations): how much each row counts in a reduced sum. A vertex that several ranks compute counts
  /// once between them. Empty: each row counts 1.
  std::span<const Real> weights{};
  /// The sum of these weights over all ranks that share the pass: the number of vertices.
  double reduced_rows = 0;

  // Where this rank holds some of the input's columns:
  Columns* columns = nullptr;             // null: it holds all of them
  Index first_column = 0;                 // the first one that it holds, counted in the whole input
  std::span<const VertexId> group_ids{};  // of the group's rows, for which each of its ranks aggregates

  /// The ids of the rows that the layer aggregates for.
  std::span<const VertexId> aggregated_ids() const { return columns == nullptr ? ids : group_ids; }
};

class Verbs {
 public:
  /// The context must outlive it.
  explicit Verbs(Context& ctx) : ctx_(ctx) {}
  virtual ~Verbs() = default;

  Context& context() const { return ctx_; }
  const PassState& state() const { return state_; }
  /// The draws for this pass's step. `layer` is a number among the model's layers.
  Draws draws(Purpose purpose, int layer) const {
    return Draws(state_.seed, purpose, std::uint64_t(state_.step), std::uint64_t(layer));
  }

  /// Starts to bring the rows that the destinations read. rows (own, in): what this pass has of the layer's
  /// input. The strategy owns the result, which is done when its last source has been pulled.
  virtual Gather& gather(const Rows& rows) = 0;
  /// The way back: the same blocks, perhaps in another order. Once the last one has been pulled, d_rows (own,
  /// in) holds the gradient of `rows`, with the contributions of other ranks. If d_rows is empty, neither the
  /// layer's input nor any block's rows take a gradient.
  virtual Gather& gather_back(const Rows& rows, MatrixView d_rows) = 0;
  /// Sums `values` over all ranks that share this pass.
  virtual void reduce(std::span<double> values) = 0;

  /// Dropout of this pass at `rate`, for whole rows with these ids; none in evaluation.
  Dropout dropout(double rate, Purpose purpose, int layer, std::span<const VertexId> ids) const {
    return state_.training && rate > 0 ? Dropout{rate, draws(purpose, layer), ids} : Dropout{};
  }
  /// Dropout of rows of the layer's input, of which this rank may hold some columns.
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
