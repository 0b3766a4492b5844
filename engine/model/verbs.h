// The seam between models and strategies, in the verbs of P3 (Gandhi & Iyer 2021, section 3.5: P-TAGS): partition,
// scatter, gather, transform, sync, apply. A model is written once against this interface; a strategy implements it.
//
//   partition, scatter   are the strategy's own: it cuts the graph and moves rows. A model never sees them.
//   gather               brings the rows that the destinations read, block by block (halo exchange, broadcast, history,
//                        sampling). The model pulls the blocks (model/gather.h), does its row-wise work on each (dropout,
//                        transform, scores) and adds it to its sum. On the way back it pulls the same blocks and leaves a
//                        gradient for each block's rows, which the strategy carries to the rows' owners.
//   transform, apply     are kernels (tensor/kernels.h): gemm and epilogues, called by the model itself.
//   sync                 makes partial products whole where a strategy splits the input's columns (model/columns.h).
//   reduce               column statistics over every vertex once (batch norm).
//
// A Verbs object is bound by the strategy to one layer of one pass (an epoch, a chunk, a mini-batch) and lives on the
// rank's compute thread.
#pragma once

#include <span>

#include "base/random.h"
#include "model/columns.h"
#include "model/gather.h"

namespace atl {

class Verbs {
 public:
  virtual ~Verbs() = default;

  virtual Context& context() = 0;
  /// Rows of this pass's output.
  virtual Index destinations() const = 0;
  virtual std::span<const VertexId> destination_ids() const = 0;  // original vertex ids, for draws
  /// False in evaluation: no dropout, running statistics are used and not changed.
  virtual bool training() const = 0;
  /// True while a forward is repeated for its activations (recompute: layer): running statistics don't change.
  virtual bool repeating() const = 0;
  /// The stream of draws for this pass's step. `layer` counts the model's layers.
  virtual Draws draws(Purpose purpose, int layer) const = 0;

  /// Starts to bring the rows that the destinations read. rows (own, in): what this pass holds of the layer's input. The
  /// object is the strategy's; it is done when its last source has been pulled.
  virtual Gather& gather(const Rows& rows) = 0;
  /// The way back: the same blocks, in an order of its own. d_rows (own, in) holds the gradient of `rows`, contributions of other
  /// ranks included, once the last one has been pulled. Empty: the layer's input takes no gradient, and no block's rows do.
  virtual Gather& gather_back(const Rows& rows, MatrixView d_rows) = 0;
  /// Null: the layer's input has all of its columns here.
  virtual Columns* columns() { return nullptr; }

  /// Sums `values` over all ranks that share this pass.
  virtual void reduce(std::span<double> values) = 0;
  /// (destinations) what each counts in a reduced sum, so that a vertex which several ranks compute counts once; empty: 1 each.
  virtual std::span<const Real> row_weights() const { return {}; }
  /// Σ of the weights over all those ranks: how many vertices there are.
  virtual double reduced_rows() const = 0;

  /// Dropout of this pass at `rate` for whole rows with the given ids; off in evaluation.
  Dropout dropout(double rate, Purpose purpose, int layer, std::span<const VertexId> ids) const {
    return training() && rate > 0 ? Dropout{rate, draws(purpose, layer), ids} : Dropout{};
  }
  /// Of rows of the layer's input, which may have some of their columns here.
  Dropout input_dropout(double rate, Purpose purpose, int layer, std::span<const VertexId> ids) {
    Dropout dropped = dropout(rate, purpose, layer, ids);
    if (Columns* split = columns()) dropped.first_column = split->first_column();
    return dropped;
  }
};

}  // namespace atl
