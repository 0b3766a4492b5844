// What conv, SAGE, dense, GAT and GCNII have in common: a product of dropped-out rows, then the finish
// (conv.h), and a skip connection past both. A layer says how its product is made and how a gradient goes back
// through it.
#pragma once

#include <vector>

#include "model/conv.h"
#include "model/layer.h"

namespace atl {

/// A weight with a row for each column of the layer's input.
inline ParameterSpec input_weight(const char* name, const LayerOptions& o) {
  return {name, o.of_whole(), o.out, o.init, o.decay, 0, 0, true, 1, o.input_blocks};
}

class FinishedLayer : public Layer {
 public:
  void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
               MatrixView out) const final;
  void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                MatrixView out, MatrixView d_out, const LayerGradient& gradient) const final;
  void forward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                       Saved& saved) const final;
  void forward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out) const final;
  void backward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                      MatrixView d_out) const final;
  void backward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                        const LayerGradient& gradient) const final;

 protected:
  /// `product` says all but the sizes. Its parameters and saved matrices have the places 0, 1, … in the layer's; the finish's follow.
  FinishedLayer(const LayerOptions& options, const LayerSpec& product);

  /// target (dst, out) is written and `finish` applied to its rows; `finish` is empty where there is a norm to come, or where
  /// the input has some of its columns here (Columns): then dst are the group's rows.
  virtual void multiply(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                        MatrixView target, const Epilogue& finish) const = 0;
  /// d_target (dst, out); `scratch` (dst, out) is memory that nobody needs any more. As Layer::backward otherwise.
  virtual void multiply_backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                                 Saved& saved, MatrixView d_target, MatrixView scratch,
                                 const LayerGradient& gradient) const = 0;

  const LayerOptions& options() const { return options_; }
  /// The first parameter's gradient += dropout(rows)ᵀ · d_out in its parts from `begin` to before `end`, each told of once
  /// it is whole. A column of `rows` (n, …) is a row of the parameter.
  void weight_backward_in_parts(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView d_out,
                                const LayerWeights& weights, int begin, int end) const;
  /// Of a block's source rows, and of the destinations' own.
  Dropout source_dropout(Verbs& verbs, const Source& source) const;
  Dropout self_dropout(Verbs& verbs) const;

 private:
  FinishedLayer(const LayerOptions& options, const LayerSpec& product, const RowFinish& finish);
  LayerOptions options_;
  RowFinish finish_;
};

}  // namespace atl
