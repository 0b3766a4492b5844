// The verb "apply": what most layers do to each finished row: bias, norm, activation and the dropout that a
// following layer wants already applied. Fused into the product where no statistic over columns is needed.
#pragma once

#include <vector>

#include "model/norm.h"

namespace atl {

class RowFinish {
 public:
  struct Options {
    Index cols = 0;
    bool bias = true;  // dropped with batch norm, which would subtract it again
    Init bias_init = Init::kZero;
    Index bias_fan_in = 0;  // for kFanIn
    Norm norm = Norm::kNone;
    Activation activation = Activation::kNone;
    double dropout = 0;  // of the *next* layer, applied here because its rows are shipped dropped out
    Purpose dropout_purpose = Purpose::kDropout;
    int dropout_layer = 0;                        // the layer that the draws belong to
    DecayGroup decay = DecayGroup::kConvolution;  // the bias's; gains and shifts never decay
  };

  /// Parameters and saved matrices stand after the layer's own, from these places on.
  RowFinish(Options options, int first_parameter, int first_saved);
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// Where the layer should write its unfinished rows: a saved matrix with a norm, `out` itself without.
  MatrixView target(Saved& saved, MatrixView out) const;
  /// What to hand to the product that writes target(): the whole finish without a norm, nothing with one.
  /// `residual` (dst, cols) or empty is added after the norm, before the activation.
  Epilogue fused(Verbs& verbs, const LayerWeights& weights, ConstMatrixView residual = {}) const;
  /// The rest, after target() is written.
  void forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
               ConstMatrixView residual = {}) const;
  /// d_out becomes the gradient of target()'s contents; parameter gradients are added to, and d_residual if given.
  void backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, ConstMatrixView out,
                MatrixView d_out, MatrixView d_residual = {}) const;

 private:
  bool has_bias() const { return options_.bias && !norm_.batch(); }
  Epilogue epilogue(Verbs& verbs, const LayerWeights& weights, Saved* saved) const;

  Options options_;
  int first_parameter_, first_saved_;
  NormLayer norm_;
};

}  // namespace atl
