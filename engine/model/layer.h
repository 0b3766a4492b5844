// A layer without state. Weights, inputs, saved activations and gradients are arguments that the schedule
// owns, keyed by (layer, chunk or batch): any range of layers runs on any block, several times in flight
// (GNNPipe's chunks, P3's batches with stashed weights, GraNNDis' cooperative batches). The backward is
// written by hand beside the forward.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "model/parameters.h"
#include "model/verbs.h"

namespace atl {

/// A matrix that forward leaves for backward; the schedule allocates it once and reuses it every step.
struct SavedSpec {
  std::string name;
  enum class Over {
    kOutputs,       // rows of the layer's output
    kDestinations,  // rows that are aggregated for: the outputs' or, where columns are split, the group's
    kBoundary,      // of the output's rows those that other ranks read, the first ones; none in inference
    kSources        // one per block of sources
  } over = Over::kDestinations;
  Index cols = 0;
  Index rows = -1;        // fixed number of rows instead (column statistics: 2)
  bool is_exact = false;  // Reals, however values are stored: statistics, scores
};

/// How many rows one layer of one pass has.
struct LayerRows {
  Index inputs = 0;  // of what this pass holds of the layer's input
  Index outputs = 0, destinations = 0;
  std::vector<Index> sources;  // by slot
  Index boundary = 0;          // of the outputs those that other ranks read, the first ones
};

/// Where a layer's saved matrices lie: views into memory that the schedule owns, so that layers which are
/// never alive together can share it.
class Saved {
 public:
  /// Reals that all matrices take, where values are stored as `values` says.
  static Index reals(const std::vector<SavedSpec>& specs, const LayerRows& rows, Storage values);
  /// Lays them out in `memory`, which holds at least so many.
  void place(const std::vector<SavedSpec>& specs, const LayerRows& rows, Storage values, Real* memory);
  MatrixView at(int index) { return matrices_[std::size_t(index)].front(); }
  /// Of a block of `rows` sources, at most as many as its slot was laid out for.
  MatrixView at(int index, int slot, Index rows) {
    return matrices_[std::size_t(index)][std::size_t(slot)].slice_rows(0, rows);
  }

 private:
  std::vector<std::vector<MatrixView>> matrices_;  // spec → one, or one per source slot
};

/// What a layer reads, as the schedule holds it.
struct LayerInput {
  Rows rows;            // (own, in): this pass's rows of the layer's input; what gather sends and reads
  Rows self;            // (dst, in): the destinations' own rows of it (residuals, SAGE's self term)
  ConstMatrixView tap;  // (dst, tap width): the named tap (GCNII's h⁰), or empty
};

/// Where a layer leaves the gradients of its input. Written by backward, except `tap`, which is added to.
struct LayerGradient {
  MatrixView rows;  // (own, in), or empty: the input takes no gradient
  // (dst, in), of the same memory where destinations are among `rows`: add after the last source
  MatrixView self;
  MatrixView tap;  // (dst, tap width), added to
};

/// One layer's parameters during one call.
struct LayerWeights {
  WeightVersion weights;
  int layer = 0;
  /// Where this call makes the layer's gradients whole. Called once per ParameterSpec::parts, in any order,
  /// when that part's gradient is final, so that its sum over ranks travels while the next is computed.
  const FunctionRef<void(int part)>* part_done = nullptr;
  void part_is_done(int part) const {
    if (part_done != nullptr) (*part_done)(part);
  }
  ConstMatrixView value(int index) const { return weights.value(layer, index); }
  MatrixView statistic(int index) const { return weights.statistic(layer, index); }  // running statistics
  MatrixView gradient(int index) const { return weights.gradient(layer, index); }
};

/// What each destination costs where a layer's aggregation is one softmax per head.
struct SoftmaxCost {
  Index heads = 0;          // softmaxes; 0: the aggregation is a sum
  bool has_scores = false;  // the destination adds a score to each of them
};

/// What a pass over one layer costs, for `atoll plan`; per destination row and per arc.
struct LayerCost {
  double flops_per_row = 0;  // matrix products, forward
  Index gather_columns = 0;  // columns that the aggregation reads per arc; 0: none
  SoftmaxCost softmax{};
};

/// What a layer is. Nothing of it changes while the layer lives.
struct LayerSpec {
  std::string name;       // "conv 1433 → 16"
  Index in = 0, out = 0;  // columns
  std::vector<ParameterSpec> parameters{};
  std::vector<SavedSpec> saved{};
  LayerCost cost{};
  /// Reads other vertices' rows.
  bool gathers = false;
  /// How many columns of its input, the last ones, a gathering layer gathers; 0: all.
  Index gathered = 0;
  /// Where its gathers bring products of rows with the weight instead of rows of the input: their columns; 0:
  /// they don't.
  Index product_cols = 0;
  /// Has neither parameters nor draws: applied to fixed input it gives the same every epoch and is computed
  /// once.
  bool constant = false;
  /// Its output begins with its input as it is, which it leaves there where the two share memory.
  bool appends = false;
  /// Backward reads the source rows again, so that halo rows must be kept until then.
  bool rows_in_backward = false;
  /// Backward is done with d_out before it writes gradient.rows, so that the two may share memory.
  bool in_place_backward = false;
  /// The place among `saved` of its output's boundary rows as they were before they were dropped out for this
  /// rank's next layer; −1: other ranks get what that layer reads.
  int boundary = -1;
  /// Layer whose output this one reads too, by row, as `tap`; −1: none.
  int tap = -1;

  Index gathered_columns() const { return product_cols > 0 ? product_cols : gathered > 0 ? gathered : in; }
};

class Layer {
 public:
  virtual ~Layer() = default;
  const LayerSpec& spec() const { return spec_; }

  /// out (dst, out()) is written.
  virtual void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                       MatrixView out) const = 0;
  /// out is forward's result; d_out (dst, out()) its gradient. Nobody reads either afterwards, so backward
  /// may use their memory. Parameter gradients are added to; `gradient` is written.
  virtual void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                        MatrixView out, MatrixView d_out, const LayerGradient& gradient) const = 0;

  /// Where a group's ranks share the input's columns (model/gather.h), forward is the first two of these, one
  /// after the other, and backward the others. A pass that calls them itself lets others compute while
  /// summands, or their gradients, travel (P3's four phases: Gandhi & Iyer 2021, section 3.3). Of layers that
  /// can't be split a bug.
  virtual void forward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                               Saved& saved) const;
  virtual void forward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out) const;
  virtual void backward_whole(Verbs& verbs, const LayerWeights& weights, Saved& saved, MatrixView out,
                              MatrixView d_out) const;
  virtual void backward_columns(Verbs& verbs, const LayerWeights& weights, const LayerInput& input,
                                Saved& saved, const LayerGradient& gradient) const;

 protected:
  explicit Layer(LayerSpec spec) : spec_(std::move(spec)) {}

 private:
  LayerSpec spec_;
};

}  // namespace atl
