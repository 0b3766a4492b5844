// ResGCN+'s layers, one file each (Li et al. 2020, "DeeperGCN"): pre-norm residual blocks h ← h + conv(r), r =
// start(h) = dropout(ReLU(norm(h))) (row_start.h), with two kinds of convolution, and the classifier behind them.
#pragma once

#include <memory>
#include <vector>

#include "model/row_start.h"

namespace atl {

/// What the blocks share; a block says what its convolution is. The first parameter is the weight, then the bias, then
/// row_start's; the convolution's saved matrices stand before row_start's.
class ResidualBlock : public Layer {
 public:
  void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
               MatrixView out) const final;
  void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                MatrixView out, MatrixView d_out, const LayerGradient& gradient) const final;

 protected:
  using Started = RowStart::Started;
  /// `weight_rows` of the weight (weight_rows, hidden). `convolution` says its name, its cost and what it saves.
  ResidualBlock(Index hidden, RowStart start, Index weight_rows, LayerSpec convolution);

  /// One pass over one block, and its destinations' own rows started, valid to the end of the pass.
  struct Pass {
    Verbs& verbs;
    const LayerWeights& weights;
    const Rows& rows;  // what gather sends and reads
    Saved& saved;
    Started self;
  };
  /// out (dst, hidden) = what the weight makes of own and neighbours' rows, `ending` applied to its rows.
  virtual void convolve(const Pass& pass, MatrixView out, const Epilogue& ending) const = 0;
  /// The way back: the weight's gradient is added to, d_rows (own, hidden) written source by source, through each
  /// block's start_.backward(). Returns the gradient of pass.self.rows, which may lie in `scratch` (dst, hidden).
  virtual MatrixView convolve_backward(const Pass& pass, RowStart::Sums sums, ConstMatrixView d_out,
                                       MatrixView scratch, MatrixView d_rows) const = 0;

  /// start() of a source block's rows: pass.self where they are the destinations', so that each row is started once a
  /// pass; else valid until the next block.
  Started started(const Pass& pass, const Source& source) const;
  /// Where the gradient of a block's rows goes, of late ones too where start() learns; empty: nobody needs it.
  MatrixView gradient_of(const Pass& pass, const Source& source) const;

  Index hidden_;
  RowStart start_;

 private:
  Pass pass_of(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved) const;
};

/// residual_mean.cc: conv(r) = SAGE with mean aggregation, as GraNNDis has it. Weight (2·hidden, hidden), self on top.
std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start);

/// residual_softmax.cc: conv(r) = (r + softmax aggregation of ReLU(r)) · W, DeeperGCN's own (GENConv). The weight is
/// (hidden, hidden).
std::unique_ptr<Layer> make_softmax_block(Index hidden, RowStart start, Real temperature);

/// classifier.cc: out = start(h) · W + b, row by row.
std::unique_ptr<Layer> make_classifier(Index in, Index out, RowStart start);

}  // namespace atl
