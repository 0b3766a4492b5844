// What convolutions have in common: (own_row·I + Â) · drop(rows) · W over the blocks of sources, and its way back. The narrower
// side is aggregated: the rows before their product with W where in ≤ out, their products otherwise (and for packed
// features). (Kipf & Welling 2017, equation 2; sums over neighbours and products with W commute.) The destinations' own rows
// are a summand of their own (Xu et al. 2019, equation 4.1), exact where neighbours are drawn or late.
#pragma once

#include "model/aggregate.h"
#include "model/conv.h"
#include "model/layer.h"
#include "model/transform.h"

namespace atl {

class NeighbourSum {
 public:
  /// Of `options` it takes sizes, index, dropout and own_row.
  explicit NeighbourSum(const LayerOptions& options);

  bool aggregate_first() const { return aggregate_first_; }
  /// The first of the layer's saved matrices, or none.
  std::vector<SavedSpec> saved() const;
  Index gather_columns() const { return aggregate_first_ ? options_.in : options_.out; }
  /// How often a destination's row is multiplied with W: as a source, and where that comes first as its own summand.
  int products() const { return adds_own() && !aggregate_first_ ? 2 : 1; }

  /// The layer's own work while rows of other ranks, or their gradients, travel.
  using OwnWork = FunctionRef<void()>;

  /// target = (own_row·I + Â) · drop(input) · w, then the finish; added to what `own_work` leaves there, where that is `begun`
  /// (without an own row). w (in, out), target (dst, out). `own`: of `input`'s rows.
  void forward(Verbs& verbs, const LayerInput& input, OwnRows& own, ConstMatrixView w, Saved& saved,
               const Sum& target, const Epilogue& finish, OwnWork own_work = no_own_work) const;
  /// d_w (in, out) is added to; `gradient`, unless its rows are empty, is written. d_target (dst, out); `scratch`
  /// (dst, out) is memory that nobody needs any more.
  void backward(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                ConstMatrixView d_target, MatrixView scratch, MatrixView d_w, const LayerGradient& gradient,
                OwnWork own_work = no_own_work) const;

 private:
  bool adds_own() const { return options_.own_row != 0; }
  Dropout dropout_of(Verbs& verbs, const Source& s) const {
    return verbs.input_dropout(options_.dropout, options_.dropout_purpose, options_.index, s.block->src_ids);
  }

  Dropout own_dropout(Verbs& verbs) const {
    return verbs.input_dropout(options_.dropout, options_.dropout_purpose, options_.index,
                               verbs.state().aggregated_ids());
  }
  void backward_aggregated(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                           ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                           const LayerGradient& gradient, OwnWork own_work) const;
  void backward_transformed(Verbs& verbs, const LayerInput& input, ConstMatrixView w,
                            ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                            const LayerGradient& gradient, OwnWork own_work) const;

  LayerOptions options_;
  bool aggregate_first_;
};

}  // namespace atl
