// The layers that most models are made of. Each is one class in a file of its own; the files of the kinds
// string them together.
#pragma once

#include <memory>
#include <vector>

#include "model/norm.h"

namespace atl {

// The verb "apply": what most layers do to each finished row: bias, norm, activation and the dropout that a
// following layer wants already applied. Fused into the product where no statistic over columns is needed.

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
    bool spares_boundary = false;                 // DropsOut::kMakersAndReaders
    DecayGroup decay = DecayGroup::kConvolution;  // the bias's; gains and shifts never decay
  };

  /// Parameters and saved matrices stand after the layer's own, from these places on.
  RowFinish(Options options, int first_parameter, int first_saved);
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// LayerSpec::boundary.
  int boundary() const { return options_.spares_boundary ? first_saved_ : -1; }

  /// Where the layer should write its unfinished rows: a saved matrix with a norm, `out` itself without.
  MatrixView target(Saved& saved, MatrixView out) const;
  /// What to hand to the product that writes target(): the whole finish without a norm, nothing with one.
  /// `residual` (dst, cols) or empty is added after the norm, before the activation.
  Epilogue fused(Verbs& verbs, const LayerWeights& weights, ConstMatrixView residual = {}) const;
  /// The rest, after target() is written.
  void forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
               ConstMatrixView residual = {}) const;
  /// d_out becomes the gradient of target()'s contents; parameter gradients are added to, and d_residual if
  /// given. Boundary rows of `out` that were spared become again what they were before dropout.
  void backward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out, MatrixView d_out,
                MatrixView d_residual = {}) const;

 private:
  bool has_bias() const { return options_.bias && !norm_.batch(); }
  int unfinished() const { return first_saved_ + (options_.spares_boundary ? 1 : 0); }
  Dropout dropout(Verbs& verbs) const;
  void spare_boundary(Verbs& verbs, Saved& saved, MatrixView out) const;
  Epilogue epilogue(Verbs& verbs, const LayerWeights& weights, Saved* saved) const;

  Options options_;
  int first_parameter_, first_saved_;
  NormLayer norm_;
};

/// Common to the layers: sizes, the dropout on the layer's input, and how its rows are finished.
struct LayerOptions {
  int index = 0;  // place in the model; keys the draws
  Index in = 0, out = 0;
  Index whole_in = 0;  // columns of the whole input, of which `in` are here (model/gather.h); 0: all are
  Index of_whole() const { return whole_in > 0 ? whole_in : in; }
  bool is_split() const { return of_whole() != in; }
  /// How often the columns of the features stand in the input, one after the other ([h, Âh]: 2).
  int input_blocks = 1;
  Init init = Init::kGlorot;    // of the weight
  Index fan_in = 0;             // for it; 0: of_whole()
  bool packed_input = false;    // features, multiplied as they are stored (tensor/rows.h)
  bool sends_products = false;  // rows cross as their products with the weight, where these are narrower
  // takes no gradient: backward ends here, with nothing left to hide a sum of gradients behind
  bool fixed_input = false;
  /// A destination's own row is added to the sum over its neighbours, this many times; 0: only arcs bring it.
  Real own_row = 0;
  double dropout = 0;  // on the layer's input rows, halo rows included, before aggregation
  Purpose dropout_purpose = Purpose::kDropout;
  /// Own rows come dropped out. Their gradients are masked by who made them, but for boundary rows', to which
  /// gradients of what wasn't dropped out are added.
  bool own_dropped = false;
  DecayGroup decay = DecayGroup::kConvolution;
  RowFinish::Options finish;  // cols is filled in
  bool skip = false;          // add the layer's own input rows before the activation; in == out
};

/// conv.cc: out = finish((own_row·I + Â) · drop(h) · W), Â by the blocks' scales: GCN (symmetric; Kipf &
/// Welling 2017, section 2) and the "gcn" aggregator of SAGE (mean with self loops). Aggregates first where
/// in ≤ out, transforms first otherwise (and for packed features); with sends_products it gathers what it has
/// transformed.
std::unique_ptr<Layer> make_conv(const LayerOptions& options);

/// dense.cc: out = finish(drop(h) · W), row by row; no neighbours.
std::unique_ptr<Layer> make_dense(const LayerOptions& options);

/// What a layer without parameters or draws sums: h' = h's columns from `first` on.
struct Propagated {
  Index in = 0;
  bool appends = false;  // out = [h, own_row·h' + Â h']; else it is the sum alone, of all columns
  Real own_row = 0;
  Index first = 0;
  Index summed() const { return in - first; }
};

/// propagate.cc. On fixed features it is computed once (PipeGCN's layer-1 precompute). It gathers the columns
/// that it sums.
std::unique_ptr<Layer> make_propagate(const Propagated& options);

}  // namespace atl
