// ResGCN+'s layers (Li et al. 2020, "DeeperGCN"): pre-norm residual blocks h ← h + conv(r), r =
// start(h) = dropout(ReLU(norm(h))), with two kinds of convolution, and the classifier behind them.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/norm.h"

namespace atl {

// What pre-norm layers do to source rows before they are aggregated: dropout(ReLU(norm(h))), on owned and
// halo rows alike, after they arrived. The backward turns the gradient of each block's rows in place; batch
// norm's part that concerns a vertex once (the means' own gradients) is left to end_backward, on owned rows.
// (Li et al. 2020, "DeeperGCN": pre-activation residual connections, after He et al. 2016, "Identity mappings
// in deep residual networks", section 4.)

class RowStart {
 public:
  struct Options {
    Index cols = 0;
    Norm norm = Norm::kNone;
    bool relu = true;
    double dropout = 0;
    int layer = 0;  // keys the draws
  };
  using Sums = std::span<double>;  // (2 · cols) of batch norm's backward, in the workspace; empty otherwise

  /// Some rows, and what became of them.
  struct Started {
    ConstMatrixView raw;   // (rows, cols) h
    ConstMatrixView rows;  // (rows, cols) dropout(ReLU(norm(h))); h itself where there is nothing to do
    std::span<const VertexId> ids;
  };

  RowStart(Options options, int first_parameter, int first_saved);
  /// Whether it has parameters, which learn from rows that take no gradient, too.
  bool learns() const { return options_.norm != Norm::kNone; }
  /// Whether started rows are never negative.
  bool relu() const { return options_.relu; }
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// Before the first forward() of a pass: batch statistics over the owned rows h (dst, cols). Collective.
  void prepare(Verbs& verbs, const LayerWeights& weights, ConstMatrixView h, Saved& saved) const;
  /// In workspace `name`, valid until its next use.
  Started forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h,
                  std::span<const VertexId> ids, const char* name) const;

  /// Valid until end_backward.
  Sums begin_backward(Verbs& verbs) const;
  /// d (rows, cols): gradient of started.rows, becomes that of started.raw, but for what end_backward adds.
  void backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, const Started& started, MatrixView d,
                Sums sums) const;
  /// After the last source: adds batch norm's remaining part to d (dst, cols). Collective.
  void end_backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h, Sums sums,
                    MatrixView d) const;

 private:
  Epilogue epilogue(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                    std::span<const VertexId> ids) const;
  Options options_;
  NormLayer norm_;
};

/// What the blocks share; a block says what its convolution is. The first parameter is the weight, then the
/// bias, then row_start's; the convolution's saved matrices stand before row_start's.
class ResidualBlock : public Layer {
 public:
  void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
               MatrixView out) const final;
  void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                MatrixView out, MatrixView d_out, const LayerGradient& gradient) const final;

 protected:
  using Started = RowStart::Started;
  /// `weight_rows` of the weight (weight_rows, hidden). `convolution` says its name, its cost and what it
  /// saves.
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
  /// The way back: the weight's gradient is added to, d_rows (own, hidden) written source by source, through
  /// each block's start_.backward(). Returns the gradient of pass.self.rows, which may lie in `scratch` (dst,
  /// hidden).
  virtual MatrixView convolve_backward(const Pass& pass, RowStart::Sums sums, ConstMatrixView d_out,
                                       MatrixView scratch, MatrixView d_rows) const = 0;

  /// start() of a source block's rows: pass.self where they are the destinations', so that each row is
  /// started once a pass; else valid until the next block.
  Started started(const Pass& pass, const Source& source) const;
  /// Where the gradient of a block's rows goes, of late ones too where start() learns; empty: nobody needs
  /// it.
  MatrixView gradient_of(const Pass& pass, const Source& source) const;

  Index hidden_;
  RowStart start_;

 private:
  Pass pass_of(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved) const;
};

/// residual_mean.cc: conv(r) = SAGE with mean aggregation, as GraNNDis has it. Weight (2·hidden, hidden),
/// self on top.
std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start);

/// residual_softmax.cc: conv(r) = (r + softmax aggregation of ReLU(r)) · W, DeeperGCN's own (GENConv). The
/// weight is (hidden, hidden).
std::unique_ptr<Layer> make_softmax_block(Index hidden, RowStart start, Real temperature);

/// classifier.cc: out = start(h) · W + b, row by row.
std::unique_ptr<Layer> make_classifier(Index in, Index out, RowStart start);

}  // namespace atl
