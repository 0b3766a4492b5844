// ResGCN+'s layers, one file each: pre-norm residual blocks h ← h + conv(r), r = start(h) = dropout(ReLU(norm(h)))
// (row_start.h), with two kinds of convolution, and the classifier behind them.
#pragma once

#include <memory>

#include "model/row_start.h"

namespace atl {

/// What the blocks share. The first parameter is the weight, then the bias, then row_start's.
class ResidualBlock : public Layer {
 public:
  ResidualBlock(Index hidden, RowStart start) : hidden_(hidden), start_(start) {}
  Index in() const final { return hidden_; }
  Index out() const final { return hidden_; }
  bool gathers() const final { return true; }
  bool rows_in_backward() const final { return true; }

 protected:
  using Started = RowStart::Started;
  std::vector<ParameterSpec> declare(Index weight_rows) const;
  /// start() of the destinations' own rows, valid to the end of the pass over this layer.
  Started started_self(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                       Saved& saved) const;
  /// start() of a source block's rows: `self` where they are the same, so that each row is started once a pass; else valid
  /// until the next block.
  Started started(Verbs& verbs, const LayerWeights& weights, Saved& saved, const Source& source,
                  const Started& self) const;
  /// bias and residual: what follows a block's last product.
  Epilogue ending(const LayerWeights& weights, const LayerInput& input) const;
  /// After gather_backward: brings d_self (dst, hidden), a gradient of self.rows, to gradient.self, with batch norm's
  /// remaining part and the residual's.
  void finish_backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, const Started& self,
                       RowStart::Sums sums, MatrixView d_self, ConstMatrixView d_out,
                       const LayerGradient& gradient) const;

  Index hidden_;
  RowStart start_;
};

/// residual_mean.cc: conv(r) = SAGE with mean aggregation, as GraNNDis has it. Weight (2·hidden, hidden), self on top.
std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start);

/// residual_softmax.cc: conv(r) = (r + softmax aggregation of ReLU(r)) · W, DeeperGCN's own (GENConv). Weight (hidden,
/// hidden).
std::unique_ptr<Layer> make_softmax_block(Index hidden, RowStart start, Real temperature);

/// classifier.cc: out = start(h) · W + b, row by row.
std::unique_ptr<Layer> make_classifier(Index in, Index out, RowStart start);

}  // namespace atl
