// What pre-norm layers do to source rows before they are aggregated: dropout(ReLU(norm(h))), on owned and halo rows
// alike, after they arrived. The backward turns the gradient of each block's rows in place; batch norm's part that
// concerns a vertex once (the means' own gradients) is left to end_backward, on owned rows. (Li et al. 2020,
// "DeeperGCN": pre-activation residual connections, after He et al. 2016, "Identity mappings in deep residual
// networks", section 4.)
#pragma once

#include <span>
#include <vector>

#include "model/norm.h"

namespace atl {

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

}  // namespace atl
