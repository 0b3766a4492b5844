// What pre-norm layers do to source rows before they are aggregated: dropout(ReLU(norm(h))), on owned and halo rows
// alike, after they arrived. The backward turns the gradient of each block's rows in place; batch norm's part that
// concerns a vertex once (the means' own gradients) is left to end_backward, on owned rows.
#pragma once

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
  using Sums = std::vector<double>;  // (2 · cols) of batch norm's backward; empty otherwise

  RowStart(Options options, int first_parameter, int first_saved);
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// Before the first forward() of a pass: batch statistics over the owned rows h (dst, cols). Collective.
  void prepare(Verbs& verbs, const LayerWeights& weights, ConstMatrixView h, Saved& saved) const;
  /// dropout(ReLU(norm(h))) in workspace `name`, or h itself where there is nothing to do.
  ConstMatrixView forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h,
                          std::span<const VertexId> ids, const char* name) const;

  Sums begin_backward() const;
  /// d (rows, cols): gradient of forward()'s result for these h, becomes h's, but for what end_backward adds.
  void backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h,
                std::span<const VertexId> ids, MatrixView d, Sums& sums) const;
  /// After all blocks and gather_backward: adds batch norm's remaining part to d (dst, cols). Collective.
  void end_backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView h, Sums& sums,
                    MatrixView d) const;

 private:
  Epilogue epilogue(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                    std::span<const VertexId> ids) const;
  Options options_;
  NormLayer norm_;
};

}  // namespace atl
