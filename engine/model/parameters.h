// The weights of a model. Values and gradients are one flat array each, so that a step's all-reduce,
// optimiser and checkpoint see one span. Layers get views by layer and index.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "tensor/kernels.h"

namespace atl {

/// Which weight-decay rate a parameter takes (training.optimizer.weightDecay).
enum class DecayGroup { kConvolution, kDense, kNone };

enum class Init {
  kGlorot,  // U(±√(6 / (fan_in + fan_out)))
  kFanOut,  // U(±1/√cols): GCNII's convolutions
  // U(±1/√fan_in): SAGE's two weights and their bias, as in PyG (Glorot's are too large for wide rows)
  kFanIn,
  kZero,
  kOne,
};

/// One parameter, as a layer declares it. Initial values are keyed by (seed, name, global row, column), so
/// they don't depend on which slice a rank holds.
struct ParameterSpec {
  std::string name;  // within the layer: "weight", "bias"; "layers.<l>." is prepended
  Index rows = 0, cols = 0;
  Init init = Init::kGlorot;
  DecayGroup decay = DecayGroup::kConvolution;
  Index fan_in = 0, fan_out = 0;  // for kGlorot, kFanIn; 0 means rows and cols
  bool trainable = true;          // false: a running statistic; in checkpoints, but not in gradients
  int parts = 1;  // ranges of rows whose gradients are summed over ranks one by one (LayerWeights)
  /// How often the rows repeat the columns of the layer's input, one copy after the other (SAGE's own and
  /// neighbours' weights: 2); 0: rows don't belong to columns of the input.
  int input_blocks = 0;

  Index part_begin(int part) const { return rows * part / parts; }
  Index part_rows(int part) const { return part_begin(part + 1) - part_begin(part); }
};

/// A range of rows of a parameter.
struct RowRange {
  Index begin = 0, count = -1;  // −1: to the last
};

/// Where a parameter lives, as one rank sees it: the rows that this rank holds, and the ranks that hold the
/// same ones. Gradients are summed over those ranks, clipping counts each gradient once, and checkpoints hold
/// whole parameters. Full-batch strategies replicate everything; P3 slices layer 1's rows, and GNNPipe gives
/// a stage its own layers.
struct Placement {
  // Ascending; stored one after the other; none: this rank holds nothing.
  std::vector<RowRange> rows{RowRange{}};
  std::vector<Rank> replicas;  // ascending, this rank among them if it holds rows; empty: every rank
  /// Whether every rank holds the whole parameter. All ranks give the same answer.
  bool everywhere() const { return replicas.empty(); }
  /// How many rows of a parameter of `all` rows this rank holds.
  Index held(Index all) const;
};

/// The rows of a parameter that belong to the given columns of its layer's input; all rows where none belong
/// to columns.
std::vector<RowRange> rows_of_input(const ParameterSpec& spec, Index first_column, Index columns);

/// Says where a parameter lives. It is called for each parameter of a model, before memory is allocated.
using PlaceParameter = FunctionRef<Placement(int layer, const ParameterSpec& spec)>;

class Parameters;

/// The weights that a pass reads, and the memory for their gradients. A batch that was begun before an update
/// keeps its version (P3 stashes three); all versions share the running statistics. It is a view: the
/// memory's owner must outlive it.
struct WeightVersion {
  const Parameters* parameters = nullptr;  // gives the layout
  const Real* trainable = nullptr;
  Real* statistics = nullptr;
  Real* gradients = nullptr;

  ConstMatrixView value(int layer, int index) const;  // (rows held, cols)
  MatrixView statistic(int layer, int index) const;   // (rows held, cols), where it isn't trainable
  MatrixView gradient(int layer, int index) const;    // (rows held, cols), where it is trainable
};

/// All of a model's parameters on one rank. Movable; views stay valid while it lives.
class Parameters {
 public:
  struct Entry {
    ParameterSpec spec;   // of the whole parameter; the name begins with its layer
    Placement placement;  // counts of ranges are filled in
    Index rows = 0;       // held
    int layer = 0;
    Index offset = 0;  // in values() and, if trainable, in gradients()
    Index count = 0;   // elements held
  };

  /// layers[l] lists layer l's parameters. Values are initialised from `seed`, only for the rows that `place`
  /// gives this rank; on Device::kDry there are none.
  Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed, PlaceParameter place,
             Device device = Device::kCpu);
  /// Every rank holds everything.
  Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed);

  /// (rows held, cols)
  MatrixView value(int layer, int index);
  ConstMatrixView value(int layer, int index) const;
  MatrixView gradient(int layer, int index);  // trainable ones only
  int count_in(int layer) const { return int(by_layer_[std::size_t(layer)].size()); }

  /// Trainable values first, in the order of declaration, then the running statistics.
  std::span<Real> values() { return {values_.data(), std::size_t(values_.cols())}; }
  std::span<Real> trainable() { return values().first(std::size_t(trainable_)); }
  std::span<Real> gradients() { return {gradients_.data(), std::size_t(trainable_)}; }
  void zero_gradients(Context& ctx) { fill(ctx, 0, gradients_); }
  /// Values and gradients as they are now.
  WeightVersion present() { return {this, values_.data(), values_.data() + trainable_, gradients_.data()}; }
  const std::vector<Entry>& entries() const { return entries_; }
  Device device() const { return values_.device(); }
  /// Whether every rank holds every row of every parameter.
  bool everywhere() const;
  /// Number of trainable elements of the whole model, whoever holds them.
  Index whole_trainable() const;

 private:
  friend struct WeightVersion;
  void add(const ParameterSpec& spec, Placement placement, int layer);
  const Entry& entry(int layer, int index) const;
  std::vector<Entry> entries_;
  std::vector<std::vector<int>> by_layer_;  // layer → indices into entries_
  Index held_ = 0, trainable_ = 0;          // elements: all, and the trainable ones
  Matrix values_, gradients_;               // (1, elements)
};

}  // namespace atl
