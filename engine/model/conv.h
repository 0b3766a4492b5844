// The layers that most models are made of. Each is a class in its own file; the files of the kinds combine
// them.
#pragma once

#include <memory>
#include <vector>

#include "job/job.h"
#include "model/layer.h"

namespace atl {

// A norm's parameters and statistics, for a norm at the end of a row's work (RowFinish) or before it
// (RowStart). Layer norm: Ba et al. 2016, section 3; batch norm: Ioffe & Szegedy 2015, section 3.

class NormLayer {
 public:
  /// Its parameters are the layer's from first_parameter on: gain, shift, and batch norm's running mean and
  /// variance. Batch norm's statistics, mean and 1/σ, are saved matrix number saved_at (2, cols).
  NormLayer(Norm kind, Index cols, int first_parameter, int saved_at)
      : kind_(kind), cols_(cols), first_parameter_(first_parameter), saved_at_(saved_at) {}

  explicit operator bool() const { return kind_ != Norm::kNone; }
  bool batch() const { return kind_ == Norm::kBatch; }
  bool layer() const { return kind_ == Norm::kLayer; }
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// Batch norm writes to `saved` the statistics that normalise x (dst, cols). In training these are x's own
  /// over all ranks, and they move the running statistics; otherwise they are the running statistics. Other
  /// norms do nothing. Collective.
  void statistics(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x, Saved& saved) const;
  /// Adds to d (dst, cols) the terms of batch norm's gradient that come through mean and variance. They can
  /// be added apart, because the backward is linear in its gradient. x is as for statistics(); `sums` are
  /// column_sums_backward() of this rank's rows. Collective.
  void statistics_backward(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x, Saved& saved,
                           std::span<double> sums, MatrixView d) const;
  void enter(const LayerWeights& weights, Saved& saved, Epilogue& epilogue) const;
  void enter(const LayerWeights& weights, EpilogueGradient& gradient) const;

 private:
  Norm kind_;
  Index cols_;
  int first_parameter_, saved_at_;
};

// The verb "apply" is what most layers do to a row at the end: bias, norm, activation and, if the next layer
// wants it, that layer's dropout. It is fused into the product where no statistic over columns is needed.

class RowFinish {
 public:
  struct Options {
    Index cols = 0;
    bool bias = true;  // left out with batch norm, which would subtract it again
    Init bias_init = Init::kZero;
    Index bias_fan_in = 0;  // for kFanIn
    Norm norm = Norm::kNone;
    Activation activation = Activation::kNone;
    double dropout = 0;  // the *next* layer's, applied here because rows are sent dropped out
    Purpose dropout_purpose = Purpose::kDropout;
    int dropout_layer = 0;         // the layer whose draws these are
    bool spares_boundary = false;  // boundary rows go out without dropout (DropsOut::kMakersAndReaders)
    DecayGroup decay = DecayGroup::kConvolution;  // the bias's; a norm's gains and shifts never decay
  };

  /// Its parameters are the layer's from first_parameter on, its saved matrices those from first_saved on.
  RowFinish(Options options, int first_parameter, int first_saved);
  void declare(std::vector<ParameterSpec>& parameters) const;
  void declare(std::vector<SavedSpec>& saved) const;

  /// See LayerSpec::boundary.
  int boundary() const { return options_.spares_boundary ? first_saved_ : -1; }

  /// Where the layer should write its unfinished rows: a saved matrix with a norm, `out` itself without.
  MatrixView target(Saved& saved, MatrixView out) const;
  /// The epilogue for the product that writes target(). Without a norm it is the whole finish, with a norm
  /// nothing. A `residual` (dst, cols), unless empty, is added after the norm and before the activation.
  Epilogue fused(Verbs& verbs, const LayerWeights& weights, ConstMatrixView residual = {}) const;
  /// Does the rest once target() is written.
  void forward(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
               ConstMatrixView residual = {}) const;
  /// Turns d_out into the gradient of target()'s contents. Adds to the parameters' gradients, and to
  /// d_residual if given. Where boundary rows were spared, puts them back into `out` as they were before
  /// dropout.
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

/// The options that layers have in common: sizes, the dropout on the layer's input, and how the layer's rows
/// are finished.
struct LayerOptions {
  int index = 0;  // its place in the model; draws depend on it
  Index in = 0, out = 0;
  // How many columns the whole input has, where this rank holds only `in` of them (model/gather.h); 0: it
  // holds all.
  Index whole_in = 0;
  Index of_whole() const { return whole_in > 0 ? whole_in : in; }
  bool is_split() const { return of_whole() != in; }
  /// How often the input repeats the features' columns, one copy after the other ([h, Âh]: 2).
  int input_blocks = 1;
  Init init = Init::kGlorot;    // of the weight
  Index fan_in = 0;             // for `init`; 0: of_whole()
  bool packed_input = false;    // the input is features, multiplied as they are stored (tensor/rows.h)
  bool sends_products = false;  // products with the weight travel instead of rows, where they are narrower
  // The input takes no gradient. So backward ends at this layer, and no computation follows that could hide
  // the sum of its gradients over ranks.
  bool fixed_input = false;
  /// How many times a destination's own row is added to the sum over its neighbours; 0: only arcs bring it.
  Real own_row = 0;
  double dropout = 0;  // on the layer's input rows, halo rows included, before aggregation
  Purpose dropout_purpose = Purpose::kDropout;
  /// Own rows come dropped out already. Their maker masks their gradients too, except for boundary rows: the
  /// reader masks its gradients of these, because other ranks add gradients of the same rows without dropout.
  bool own_dropped = false;
  DecayGroup decay = DecayGroup::kConvolution;
  RowFinish::Options finish;  // cols is filled in
  bool skip = false;          // adds the layer's own input rows before the activation; in == out
};

/// conv.cc: out = finish((own_row·I + Â) · drop(h) · W), where Â has the blocks' scales. With symmetric ones
/// this is GCN (Kipf & Welling 2017, section 2), with mean ones and self-loops the "gcn" aggregator of SAGE.
/// It aggregates first where in ≤ out; otherwise, and for packed features, it transforms first. With
/// sends_products it gathers the products.
std::unique_ptr<Layer> make_conv(const LayerOptions& options);

/// dense.cc: out = finish(drop(h) · W), row by row; no neighbours.
std::unique_ptr<Layer> make_dense(const LayerOptions& options);

/// A layer that only sums over neighbours, without parameters or draws. h' is the columns of h from `first`
/// on.
struct Propagated {
  Index in = 0;
  bool appends = false;  // out = [h, own_row·h' + Â h']; otherwise only the sum, of all columns
  Real own_row = 0;
  Index first = 0;
  Index summed() const { return in - first; }
};

/// propagate.cc. On fixed features it is computed once (PipeGCN's layer-1 precompute). It gathers only the
/// columns that it sums.
std::unique_ptr<Layer> make_propagate(const Propagated& options);

}  // namespace atl
