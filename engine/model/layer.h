// A layer has no state of its own. Weights, inputs, saved activations and gradients are arguments, which the
// schedule owns and keys by (layer, chunk or batch). So any range of layers runs on any block, several times
// in flight (GNNPipe's chunks, P3's batches with stashed weights, GraNNDis' cooperative batches). The
// backward is written by hand beside the forward.
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
    kDestinations,  // rows that it aggregates for: the outputs', or the group's where ranks share columns
    kBoundary,      // the output's first rows, those that other ranks read; none in inference
    kSources        // one per block of sources
  } over = Over::kDestinations;
  Index cols = 0;
  Index rows = -1;        // a fixed number of rows, whatever `over` says (column statistics: 2); −1: none
  bool is_exact = false;  // held as Reals, however values are stored: statistics, scores
};

/// How many rows one layer of one pass has.
struct LayerRows {
  Index inputs = 0;  // rows of the layer's input that this pass holds
  Index outputs = 0, destinations = 0;
  std::vector<Index> sources;  // by slot
  Index boundary = 0;          // how many outputs, the first ones, other ranks read
};

/// Where a layer's saved matrices lie. They are views into memory that the schedule owns, so that layers
/// which are never alive together can share it.
class Saved {
 public:
  /// How many Reals all matrices take, where values are stored as `values` says.
  static Index reals(const std::vector<SavedSpec>& specs, const LayerRows& rows, Storage values);
  /// Lays the matrices out in `memory`, which holds at least reals().
  void place(const std::vector<SavedSpec>& specs, const LayerRows& rows, Storage values, Real* memory);
  MatrixView at(int index) { return matrices_[std::size_t(index)].front(); }
  /// The matrix for a block of `rows` sources, which are at most as many as its slot was laid out for.
  MatrixView at(int index, int slot, Index rows) {
    return matrices_[std::size_t(index)][std::size_t(slot)].slice_rows(0, rows);
  }

 private:
  std::vector<std::vector<MatrixView>> matrices_;  // spec → one, or one per source slot
};

/// What a layer reads, as the schedule holds it.
struct LayerInput {
  // (own, in): the rows of the layer's input that this pass has; gather sends and reads them. If the layer
  // appends, forward also takes the gathered columns alone: (own, LayerSpec::gathered)
  Rows rows;
  Rows self;            // (dst, in): the destinations' own input rows (residuals, SAGE's self term)
  ConstMatrixView tap;  // (dst, tap width): the named tap (GCNII's h⁰), or empty
};

/// Where a layer leaves the gradients of its input. Backward writes all but `tap`, which it adds to.
struct LayerGradient {
  MatrixView rows;  // (own, in), or empty: the input takes no gradient
  // (dst, in). Where `rows` include the destinations, this is their part of the same memory: add to it after
  // the last source
  MatrixView self;
  MatrixView tap;  // (dst, tap width), added to
};

/// One layer's parameters during one call.
struct LayerWeights {
  WeightVersion weights;
  int layer = 0;
  /// Reports that a part of the gradient is final. Call it once for each of the ParameterSpec::parts, in any
  /// order: the sum of that part over ranks then travels while the next part is computed.
  const FunctionRef<void(int part)>* part_done = nullptr;
  void part_is_done(int part) const {
    if (part_done != nullptr) (*part_done)(part);
  }
  ConstMatrixView value(int index) const { return weights.value(layer, index); }
  MatrixView statistic(int index) const { return weights.statistic(layer, index); }  // running statistics
  MatrixView gradient(int index) const { return weights.gradient(layer, index); }
};

/// The costs per destination of a layer whose aggregation is one softmax per head.
struct SoftmaxCost {
  Index heads = 0;          // softmaxes; 0: the aggregation is a sum
  bool has_scores = false;  // the destination adds a score to each of them
};

/// The cost of a pass over one layer, per destination row and per arc, for `atoll plan`.
struct LayerCost {
  double flops_per_row = 0;  // matrix products, forward
  Index gather_columns = 0;  // columns that the aggregation reads for each arc; 0: none
  SoftmaxCost softmax{};
};

/// What a layer is. It never changes while the layer lives.
struct LayerSpec {
  std::string name;       // "conv 1433 → 16"
  Index in = 0, out = 0;  // columns
  std::vector<ParameterSpec> parameters{};
  std::vector<SavedSpec> saved{};
  LayerCost cost{};
  /// The layer reads other vertices' rows.
  bool gathers = false;
  /// A gathering layer gathers only this many columns of its input, the last ones; 0: all.
  Index gathered = 0;
  /// The width of a product with the weight, where the layer's gathers bring products; 0: they bring rows of
  /// the input.
  Index product_cols = 0;
  /// It has neither parameters nor draws, so on a fixed input it gives the same every epoch and is computed
  /// once.
  bool constant = false;
  /// Its output begins with its unchanged input, which it leaves in place where the two share memory.
  bool appends = false;
  /// Backward reads the source rows again, so halo rows must be kept until then.
  bool rows_in_backward = false;
  /// Backward has read all of d_out before it writes gradient.rows, so that the two may share memory.
  bool in_place_backward = false;
  /// The number of the saved matrix that holds the output's boundary rows without dropout, which other ranks
  /// get; −1: they get the same rows as this rank's next layer.
  int boundary = -1;
  /// The layer whose output this one reads too, row by row, as `tap`; −1: none.
  int tap = -1;

  Index gathered_columns() const { return product_cols > 0 ? product_cols : gathered > 0 ? gathered : in; }
};

class ColumnLayer;  // model/finished_layer.h

class Layer {
 public:
  virtual ~Layer() = default;
  const LayerSpec& spec() const { return spec_; }

  /// Writes out (dst, out()).
  virtual void forward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                       MatrixView out) const = 0;
  /// out is forward's result, d_out (dst, out()) its gradient. Nobody reads either afterwards, so backward
  /// may use their memory. Adds to the parameters' gradients, and writes `gradient`.
  virtual void backward(Verbs& verbs, const LayerWeights& weights, const LayerInput& input, Saved& saved,
                        MatrixView out, MatrixView d_out, const LayerGradient& gradient) const = 0;

  /// The layer in two parts, for ranks that share its input's columns (PassState::columns); null: they can't.
  /// On such ranks, forward() does both parts in turn, but backward() isn't allowed: call the two parts
  /// instead.
  virtual const ColumnLayer* by_columns() const { return nullptr; }

 protected:
  explicit Layer(LayerSpec spec) : spec_(std::move(spec)) {}

 private:
  LayerSpec spec_;
};

}  // namespace atl
