// What conv, SAGE, dense, GAT and GCNII have in common: a product of dropped-out rows, then the finish
// (conv.h), and a skip connection around both. A layer says how its product is made and how a gradient goes
// back through it.
#pragma once

#include <vector>

#include "model/aggregate.h"
#include "model/conv.h"
#include "model/layer.h"
#include "model/transform.h"

namespace atl {

/// A weight with a row for each column of the layer's input.
inline ParameterSpec input_weight(const char* name, const LayerOptions& o) {
  return {name, o.of_whole(), o.out, o.init, o.decay, 0, 0, true, 1, o.input_blocks};
}

/// The dropout of the rows that a layer reads, and of their gradients. The two differ where own rows come
/// dropped out already (LayerOptions::own_dropped).
class InputDropout {
 public:
  explicit InputDropout(const LayerOptions& options) : options_(options) {}

  /// The dropouts of a block's source rows, and of the destinations' own rows.
  Dropout of(Verbs& verbs, const Source& s) const {
    return s.own && options_.own_dropped ? Dropout() : of_all(verbs, s.block->src_ids);
  }
  Dropout of_self(Verbs& verbs) const {
    return options_.own_dropped ? Dropout() : of_all(verbs, verbs.state().aggregated_ids());
  }
  /// The dropouts of the gradients of those rows, as they are written or added to.
  Dropout of_gradient(Verbs& verbs, const Source& s) const {
    return of_gradient(verbs, s.block->src_ids, s.own);
  }
  Dropout of_own_gradient(Verbs& verbs) const {
    return of_gradient(verbs, verbs.state().aggregated_ids(), true);
  }

 private:
  Dropout of_all(Verbs& verbs, std::span<const VertexId> ids) const;
  Dropout of_gradient(Verbs& verbs, std::span<const VertexId> ids, bool own) const;
  LayerOptions options_;
};

/// A layer whose input's columns a group of ranks can share (model/gather.h), in two parts. The first
/// multiplies the columns that this rank holds, and sends the summands to the owners of their rows. The
/// second finishes whole rows. Backward has the same two parts in reverse. While summands, or their
/// gradients, travel between the two, the rank has time for other work (P3's four phases: Gandhi & Iyer 2021,
/// section 3.3). Collective over the group.
class ColumnLayer {
 public:
  /// Begins to send the summands of the group's rows.
  virtual void forward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                               Saved& saved) const = 0;
  /// Writes out (dst, out()), as Layer::forward.
  virtual void forward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved,
                             MatrixView out) const = 0;
  /// out and d_out as in Layer::backward. Begins to send the gradient of the own rows' sums.
  virtual void backward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                              MatrixView d_out) const = 0;
  virtual void backward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                                Saved& saved, const LayerGradient& gradient) const = 0;

 protected:
  ~ColumnLayer() = default;
};

class FinishedLayer : public Layer, private ColumnLayer {
 public:
  void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
               MatrixView out) const final;
  void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                MatrixView out, MatrixView d_out, const LayerGradient& gradient) const final;
  const ColumnLayer* by_columns() const final { return this; }

 protected:
  /// `product` is the spec of the product, without sizes. Its parameters and saved matrices come first in the
  /// layer's lists, and those of the finish follow.
  FinishedLayer(const LayerOptions& options, const LayerSpec& product);

  /// Writes target (dst, out) and applies `finish` to its rows. `finish` is empty where a norm follows, or
  /// where the ranks of a group share the input's columns (Columns); then dst are the group's rows.
  virtual void multiply(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                        MatrixView target, const Epilogue& finish) const = 0;
  /// d_target (dst, out); `scratch` (dst, out) is memory that nobody needs any more. Otherwise as
  /// Layer::backward.
  virtual void multiply_backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                                 Saved& saved, MatrixView d_target, MatrixView scratch,
                                 const LayerGradient& gradient) const = 0;

  const LayerOptions& options() const { return options_; }
  /// Adds dropout(rows)ᵀ · d_out to the first parameter's gradient, for parts `begin` … `end` − 1, and
  /// reports each part when it is complete. A column of `rows` (n, …) is a row of the parameter.
  void weight_backward_in_parts(Context& ctx, const Rows& rows, const Dropout& dropout, ConstMatrixView d_out,
                                const LayerWeights& weights, int begin, int end) const;
  /// Calls visit(rows, dropout, block) for each of the input's blocks of columns
  /// (LayerOptions::input_blocks). Where this rank holds only some of the input's columns, it has that range
  /// of each block; `dropout` knows its first column in the whole input.
  template <class Visit>
  void for_each_block(Verbs& verbs, const Rows& input, Visit visit) const {
    const int blocks = options_.input_blocks;
    Dropout dropout = dropout_.of_self(verbs);
    for (int block = 0; block < blocks; ++block, dropout.first_column += options_.of_whole() / blocks)
      visit(Rows(input.dense.slice_cols(block * block_columns(), block_columns())), dropout, block);
  }
  Index block_columns() const { return options_.in / options_.input_blocks; }
  const InputDropout& input_dropout() const { return dropout_; }

 private:
  FinishedLayer(const LayerOptions& options, const LayerSpec& product, const RowFinish& finish);
  void forward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                       Saved& saved) const final;
  void forward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out) const final;
  void backward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                      MatrixView d_out) const final;
  void backward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                        const LayerGradient& gradient) const final;

  LayerOptions options_;
  InputDropout dropout_;
  RowFinish finish_;
};

// What convolutions have in common: (own_row·I + Â) · drop(rows) · W over the blocks of sources, and its way
// back. (Kipf & Welling 2017, equation 2; sums over neighbours and products with W commute.) The narrower
// side is aggregated: the rows where in ≤ out, otherwise, and for packed features, their products with W.
// Products travel where they may (sends_products): each rank multiplies its own rows only. Otherwise rows
// travel, and each rank multiplies all that it reads. The destinations' own rows are a separate summand (Xu
// et al. 2019, equation 4.1), which stays exact where neighbours are drawn or stale.

class NeighbourSum {
 public:
  /// Takes sizes, index, dropout and own_row from `options`.
  explicit NeighbourSum(const LayerOptions& options);

  /// See LayerSpec::product_cols.
  bool sends_products() const { return order_ == Order::kSendProducts; }
  /// See LayerSpec::rows_in_backward.
  bool reads_rows_back() const { return order_ == Order::kMultiplySources; }
  /// The saved matrix that the sum needs, which must be the layer's first; or none.
  std::vector<SavedSpec> saved() const;
  Index gather_columns() const { return aggregates_first() ? options_.in : options_.out; }
  /// How often a destination's row is multiplied with W: once as a source, and once more as its own summand
  /// where products are aggregated.
  int products() const { return adds_own() && !aggregates_first() ? 2 : 1; }

  /// The layer's own work while rows of other ranks, or their gradients, travel.
  using OwnWork = FunctionRef<void()>;

  /// target = (own_row·I + Â) · drop(input) · w, then the finish. If target.begun, own_work() writes to
  /// target first, and the sum is added; this isn't allowed with an own row. w (in, out), target (dst, out).
  /// `own` holds `input`'s rows.
  void forward(Verbs& verbs, const LayerInput& input, OwnRows& own, ConstMatrixView w, Saved& saved,
               const Sum& target, const Epilogue& finish, OwnWork own_work = no_own_work) const;
  /// Adds to d_w (in, out), and writes `gradient` unless its rows are empty. d_target (dst, out); `scratch`
  /// (dst, out) is memory that nobody needs any more.
  void backward(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                ConstMatrixView d_target, MatrixView scratch, MatrixView d_w, const LayerGradient& gradient,
                OwnWork own_work = no_own_work) const;

 private:
  enum class Order { kAggregateFirst, kMultiplySources, kSendProducts };
  static Order order_of(const LayerOptions& options);
  bool aggregates_first() const { return order_ == Order::kAggregateFirst; }
  bool adds_own() const { return options_.own_row != 0; }
  void backward_aggregated(Verbs& verbs, const LayerInput& input, ConstMatrixView w, Saved& saved,
                           ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                           const LayerGradient& gradient, OwnWork own_work) const;
  void backward_transformed(Verbs& verbs, const LayerInput& input, ConstMatrixView w,
                            ConstMatrixView d_target, MatrixView scratch, MatrixView d_w,
                            const LayerGradient& gradient, OwnWork own_work) const;

  /// Sums the products z = drop(input) · w. Products of boundary rows are computed before the gather begins,
  /// the others while these travel.
  bool sum_products(Verbs& verbs, const LayerInput& input, OwnRows& own, ConstMatrixView w, const Sum& sum,
                    const Epilogue& finish, OwnWork begin) const;
  void backward_products(Verbs& verbs, const LayerInput& input, ConstMatrixView w, ConstMatrixView d_target,
                         MatrixView d_w, MatrixView d_rows, OwnWork own_work) const;

  LayerOptions options_;
  InputDropout dropout_;
  Order order_;
};

}  // namespace atl
