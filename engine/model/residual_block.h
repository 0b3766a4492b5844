// ResGCN+'s layers (Li et al. 2020, "DeeperGCN"): pre-norm residual blocks h ← h + conv(r) with r = start(h)
// = dropout(ReLU(norm(h))), two kinds of convolution for them, and the classifier at the end.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "model/conv.h"

namespace atl {

// What pre-norm layers do to source rows before they are aggregated: dropout(ReLU(norm(h))), on owned rows
// and on halo rows after they have arrived. The backward turns the gradient of each block's rows in place.
// Batch norm's terms through mean and variance, which count each vertex once, are left to end_backward, on
// owned rows. (Li et al. 2020, "DeeperGCN": pre-activation residual connections, after He et al. 2016,
// "Identity mappings in deep residual networks", section 4.)

class RowStart {
 public:
  struct Options {
    Index cols = 0;
    Norm norm = Norm::kNone;
    bool relu = true;
    double dropout = 0;
    int layer = 0;  // keys the draws
  };
  using Sums = std::span<double>;  // (2 · cols), in the workspace, for batch norm's backward; otherwise empty

  /// Some rows before and after the start.
  struct Started {
    ConstMatrixView raw;   // (rows, cols) h
    ConstMatrixView rows;  // (rows, cols) dropout(ReLU(norm(h))); h itself where all of these are off
    std::span<const VertexId> ids;
  };

  /// The scratch buffer for started rows of the destinations, in all layers that start rows.
  static constexpr ScratchKey kOwn{};

  RowStart(Options options, int first_parameter, int first_saved);
  /// Whether it has parameters. They learn from all rows, also from those that take no gradient.
  bool learns() const { return options_.norm != Norm::kNone; }
  /// Whether started rows are never negative.
  bool relu() const { return options_.relu; }
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// Call before the first forward() of a pass: computes batch statistics of the owned rows h (dst, cols).
  /// Collective.
  void prepare(Verbs& verbs, const LayerWeights& weights, ConstMatrixView h, Saved& saved) const;
  /// The result is in scratch buffer `to`, valid until its next use.
  Started forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h,
                  std::span<const VertexId> ids, const ScratchKey& to) const;

  /// Returns the zeroed sums that backward() adds to. They are valid until end_backward().
  Sums begin_backward(Verbs& verbs) const;
  /// Turns d (rows, cols) from the gradient of started.rows into that of started.raw, except for what
  /// end_backward adds.
  void backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, const Started& started, MatrixView d,
                Sums sums) const;
  /// Call after the last source: adds batch norm's remaining terms to d (dst, cols). Collective.
  void end_backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h, Sums sums,
                    MatrixView d) const;

 private:
  Epilogue epilogue(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                    std::span<const VertexId> ids) const;
  Options options_;
  NormLayer norm_;
};

/// What both blocks share; each defines its convolution. The parameters are the weight, the bias, then
/// row_start's. The convolution's saved matrices come before row_start's.
class ResidualBlock : public Layer {
 public:
  void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
               MatrixView out) const final;
  void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                MatrixView out, MatrixView d_out, const LayerGradient& gradient) const final;

 protected:
  using Started = RowStart::Started;
  /// `weight_rows`: rows of the weight (weight_rows, hidden). `convolution` has the convolution's name, cost
  /// and saved matrices.
  ResidualBlock(Index hidden, RowStart start, Index weight_rows, LayerSpec convolution);

  /// One pass over one layer, with its destinations' own rows started; valid to the end of the pass.
  struct Pass {
    Verbs& verbs;
    const LayerWeights& weights;
    const Rows& rows;  // what gather sends and reads
    Saved& saved;
    Started self;
  };
  /// out (dst, hidden) = the weight applied to own and neighbours' rows, with `ending` applied to the result.
  virtual void convolve(const Pass& pass, MatrixView out, const Epilogue& ending) const = 0;
  /// The way back: adds to the weight's gradient and writes d_rows (own, hidden) source by source, through
  /// each block's start_.backward(). Returns the gradient of pass.self.rows, which may lie in `scratch` (dst,
  /// hidden).
  virtual MatrixView convolve_backward(const Pass& pass, RowStart::Sums sums, ConstMatrixView d_out,
                                       MatrixView scratch, MatrixView d_rows) const = 0;

  /// The rows of `source`, started. If they are the destinations' own rows, this is pass.self, so that no row
  /// is started twice in a pass. Otherwise the result is valid until the next source.
  Started started(const Pass& pass, const Source& source) const;
  /// Where the gradient of a block's rows goes; empty: nobody needs it. Rows that take no gradient, such as
  /// stale ones, have scratch memory for it where start() learns from it.
  MatrixView gradient_of(const Pass& pass, const Source& source) const;

  Index hidden_;
  RowStart start_;

 private:
  Pass pass_of(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved) const;
};

// The two convolutions (residual_convolutions.cc), and the last layer.

/// conv(r) is SAGE with mean aggregation, as in GraNNDis. The weight is (2·hidden, hidden), the self half on
/// top.
std::unique_ptr<Layer> make_mean_block(Index hidden, RowStart start);

/// conv(r) = (r + softmax aggregation of ReLU(r)) · W, DeeperGCN's own (GENConv). The weight is (hidden,
/// hidden).
std::unique_ptr<Layer> make_softmax_block(Index hidden, RowStart start, Real temperature);

/// out = start(h) · W + b, row by row.
std::unique_ptr<Layer> make_classifier(Index in, Index out, RowStart start);

}  // namespace atl
