// A norm's parameters and statistics, for a norm at the end of a row's work (RowFinish) or before it
// (RowStart). Layer norm: Ba et al. 2016, section 3; batch norm: Ioffe & Szegedy 2015, section 3.
#pragma once

#include <vector>

#include "job/job.h"
#include "model/layer.h"

namespace atl {

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

  /// For batch norm: writes statistics to `saved`. In training they are those of x (dst, cols) over all
  /// ranks, and the running ones move; otherwise they are the running ones. Other norms: nothing. Collective.
  void statistics(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x, Saved& saved) const;
  /// Batch norm's backward is linear in its gradient: adds to d (dst, cols) the terms that come through mean
  /// and variance. x: as for statistics(); sums: column_sums_backward() of this rank's rows. Collective.
  void statistics_backward(Verbs& verbs, const LayerWeights& weights, ConstMatrixView x, Saved& saved,
                           std::span<double> sums, MatrixView d) const;
  void enter(const LayerWeights& weights, Saved& saved, Epilogue& epilogue) const;
  void enter(const LayerWeights& weights, EpilogueGradient& gradient) const;

 private:
  Norm kind_;
  Index cols_;
  int first_parameter_, saved_at_;
};

}  // namespace atl
