// The seam between models and strategies, in the verbs of P3 (Gandhi & Iyer 2021, section 3.5: P-TAGS): partition,
// scatter, gather, transform, sync, apply. A model is written once against this interface; a strategy implements it.
//
//   partition, scatter   are the strategy's own: it cuts the graph and moves rows. A model never sees them.
//   gather               "visit every block of source rows that these destinations read". The strategy brings the
//                        rows (halo exchange, broadcast, history, sampling) and calls the model's visitor once per
//                        block; the model does its row-wise work on them (dropout, transform, scores) and adds them
//                        to its accumulator. The backward visits the same blocks and returns a gradient for
//                        each block's rows, which the strategy carries to the rows' owners.
//   transform, apply     are kernels (tensor/kernels.h): gemm and epilogues, called by the model itself.
//   sync                 makes partial sums whole where a strategy splits columns (P3); elsewhere the identity.
//   reduce               column statistics over every vertex once (batch norm).
//
// A Verbs object is bound by the strategy to one layer of one pass (an epoch, a chunk, a mini-batch) and lives on the
// rank's compute thread.
#pragma once

#include <span>

#include "base/function_ref.h"
#include "base/random.h"
#include "graph/block.h"
#include "tensor/kernels.h"

namespace atl {

/// One block of sources on its way into an accumulator.
struct Source {
  const Block* block;  // destinations of this pass × these sources
  Rows rows;           // (src, in): the layer's input, before dropout. Of owned rows, halo rows, …
  int slot;            // 0 … source_slots − 1; the same in forward and backward
  bool first;          // the first block of this gather: accumulators begin (write) instead of adding
};

using VisitSource = FunctionRef<void(const Source&)>;
/// d_rows (src, in) is to be written in full; it is empty where the rows take no gradient.
using VisitSourceBackward = FunctionRef<void(const Source&, MatrixView d_rows)>;

/// Where a gather of sums goes, and what is done once rows of other ranks are on their way.
struct Sum {
  MatrixView target;                               // (dst, cols)
  const FunctionRef<void()>* begin = nullptr;      // writes a first summand to `target`
  const FunctionRef<void()>* meanwhile = nullptr;  // other work
  void rows_travel() const {
    if (begin != nullptr) (*begin)();
    if (meanwhile != nullptr) (*meanwhile)();
  }
};
/// Adds the block's sum to `target` (the block's destinations, cols), or writes it there.
using VisitSum = FunctionRef<void(const Source&, MatrixView target, bool accumulate)>;
/// d_target (the block's destinations, cols); d_rows as in VisitSourceBackward.
using VisitSumBackward = FunctionRef<void(const Source&, ConstMatrixView d_target, MatrixView d_rows)>;

/// What a gather of sums goes back from.
struct SumGradient {
  ConstMatrixView d_target;  // (dst, cols)
  /// Other work, done once while gradients of other ranks' rows travel, and before anything is written to d_rows.
  const FunctionRef<void()>* meanwhile = nullptr;
  void gradients_travel() const {
    if (meanwhile != nullptr) (*meanwhile)();
  }
};

/// A block of a gather of sums where each visited block has the pass's own destinations.
inline void visit_sum(const Source& source, const Sum& sum, VisitSum visit) {
  if (source.first) sum.rows_travel();
  visit(source, sum.target, sum.begin != nullptr || !source.first);
}
/// The same on the way back, where the first block, of own rows, is visited after the others.
inline void visit_sum(const Source& source, const SumGradient& sum, VisitSumBackward visit,
                      MatrixView d_rows) {
  if (source.first) sum.gradients_travel();
  visit(source, sum.d_target, d_rows);
}

/// A gather into softmaxes over each destination's neighbours.
struct SoftmaxGather {
  Softmaxes own;  // of the pass's destinations
  /// Begins `own` and gives what the destinations bring to their softmaxes, scores (dst, heads) or nothing. Called once: when rows
  /// of other ranks are on their way or, where others need the scores, before.
  FunctionRef<ConstMatrixView()> begin;
};
/// Adds the block to the softmaxes of its destinations, whose scores these are.
using VisitSoftmax = FunctionRef<void(const Source&, ConstMatrixView scores, const Softmaxes& softmaxes)>;

/// A block of such a gather where each visited block has the pass's own destinations. `scores`: one for all blocks.
inline void visit_softmax(const Source& source, const SoftmaxGather& softmax, ConstMatrixView& scores,
                          VisitSoftmax visit) {
  if (source.first) scores = softmax.begin();
  visit(source, scores, softmax.own);
}

/// What the way back from it reads of destinations, and where the gradient of their scores goes.
struct SoftmaxGradient {
  ConstMatrixView scores;  // (dst, heads), or empty
  SoftmaxState state;      // as forward left it
  ConstMatrixView result;  // (dst, heads): what the kernel asks for of the result: attention_dot, or itself
  ConstMatrixView d_out;   // (dst, heads·f)
  MatrixView d_scores;     // (dst, heads): added to; or empty
};
/// `of` the block's destinations; d_rows as in VisitSourceBackward.
using VisitSoftmaxBackward = FunctionRef<void(const Source&, const SoftmaxGradient& of, MatrixView d_rows)>;

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

  /// Calls visit for every block of sources, in a fixed order. rows: what this pass holds of the layer's input.
  virtual void gather(const Rows& rows, VisitSource visit) = 0;
  /// Visits the same blocks and leaves in d_rows the gradient of `rows`, contributions from other ranks included.
  /// d_rows empty: the layer's input takes no gradient, and no block's rows do.
  virtual void gather_backward(const Rows& rows, VisitSourceBackward visit, MatrixView d_rows) = 0;

  /// gather for aggregators that add: a strategy may sum for other ranks' destinations, and add up what ranks have summed.
  virtual void gather_sum(const Rows& rows, const Sum& sum, VisitSum visit) {
    gather(rows, [&](const Source& s) { visit_sum(s, sum, visit); });
  }
  /// The way back: visitors read the sum's gradient from what they are given.
  virtual void gather_sum_backward(const Rows& rows, const SumGradient& sum, VisitSumBackward visit,
                                   MatrixView d_rows) {
    gather_backward(
        rows, [&](const Source& s, MatrixView d_block) { visit_sum(s, sum, visit, d_block); }, d_rows);
  }

  /// gather for aggregators that are softmaxes: likewise.
  virtual void gather_softmax(const Rows& rows, const SoftmaxGather& softmax, VisitSoftmax visit) {
    ConstMatrixView scores;
    gather(rows, [&](const Source& s) { visit_softmax(s, softmax, scores, visit); });
  }
  virtual void gather_softmax_backward(const Rows& rows, const SoftmaxGradient& softmax,
                                       VisitSoftmaxBackward visit, MatrixView d_rows) {
    gather_backward(
        rows, [&](const Source& s, MatrixView d_block) { visit(s, softmax, d_block); }, d_rows);
  }

  /// Turns a partial result (a sum over this rank's columns of the input) into the whole; returns the rows of it
  /// that go on here. Full-batch and mini-batch strategies return their argument. Collective where it is not the
  /// identity; layers may call it inside a gather's visitor, so a strategy that splits columns brings the same blocks
  /// in the same order to all ranks that share them.
  virtual MatrixView sync(MatrixView partial) = 0;

  /// Sums `values` over all ranks that share this pass; each vertex must have been counted by one rank only.
  virtual void reduce(std::span<double> values) = 0;
  /// Number of destination rows over all those ranks.
  virtual double reduced_rows() const = 0;

  /// Dropout of this pass at `rate` for rows with the given ids; off in evaluation.
  Dropout dropout(double rate, Purpose purpose, int layer, std::span<const VertexId> ids) const {
    return training() && rate > 0 ? Dropout{rate, draws(purpose, layer), ids} : Dropout{};
  }
};

/// The kernel's view of a block's arcs.
inline Arcs arcs_of(const Block& b) {
  return {b.arcs, b.dst_scale, b.src_scale};
}
/// … and of its transpose: sources receive from destinations, scales swapped.
inline Arcs transposed_arcs_of(const Block& b) {
  return {b.transpose, b.src_scale, b.dst_scale};
}

}  // namespace atl
