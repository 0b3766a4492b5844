// The weights of a model and where they live. One flat array each for values and gradients, so that a step's
// all-reduce, optimiser and checkpoint see one span; views by layer and index for the layers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tensor/matrix.h"

namespace atl {

/// Which weight-decay rate a parameter takes (training.optimizer.weightDecay).
enum class DecayGroup { kConvolution, kDense, kNone };

enum class Init {
  kGlorot,  // U(±√(6 / (fan_in + fan_out)))
  kFanOut,  // U(±1/√cols): GCNII's convolutions
  kFanIn,  // U(±1/√fan_in): SAGE's two weights and their bias, as PyG has them (Glorot's are too large for wide rows)
  kZero,
  kOne,
};

/// One parameter, as a layer declares it. Initial values are keyed by (seed, name, global row, column), so they
/// are the same whatever slice of it a rank holds.
struct ParameterSpec {
  std::string name;  // within the layer: "weight", "bias"; "layers.<l>." is put in front
  Index rows = 0, cols = 0;
  Init init = Init::kGlorot;
  DecayGroup decay = DecayGroup::kConvolution;
  Index fan_in = 0, fan_out = 0;  // for kGlorot, kFanIn; 0 means rows and cols
  bool trainable = true;          // false: a running statistic; in checkpoints, but not in gradients
};

/// Where a parameter lives: the rows of it this rank holds, and whether every rank holds the same ones and so
/// its gradient is summed over all ranks. Full-batch strategies replicate everything; P3 slices layer 1's rows and
/// GNNPipe gives a stage its own layers.
struct Placement {
  Index row_begin = 0, row_count = -1;  // −1: all
  bool replicated = true;
};

/// All of a model's parameters on one rank. Movable; views stay valid for its life.
class Parameters {
 public:
  struct Entry {
    ParameterSpec spec;  // name completed with its layer
    Placement placement;
    int layer = 0;
    Index offset = 0;  // in values() and, for trainable ones, in gradients()
    Index count = 0;   // elements held
  };

  /// layers[l] lists layer l's parameters. Values are initialised from `seed`.
  Parameters(const std::vector<std::vector<ParameterSpec>>& layers, std::uint64_t seed);

  /// (rows held, cols)
  MatrixView value(int layer, int index);
  ConstMatrixView value(int layer, int index) const;
  MatrixView gradient(int layer, int index);  // trainable ones only
  int count_in(int layer) const { return int(by_layer_[std::size_t(layer)].size()); }

  /// Trainable values first, in declaration order, then the running statistics.
  std::span<Real> values() { return {values_.data(), std::size_t(values_.cols())}; }
  std::span<Real> trainable() { return values().first(std::size_t(trainable_)); }
  std::span<Real> gradients() { return {gradients_.data(), std::size_t(trainable_)}; }
  void zero_gradients() { gradients_.zero(); }
  const std::vector<Entry>& entries() const { return entries_; }

 private:
  const Entry& entry(int layer, int index) const;
  std::vector<Entry> entries_;
  std::vector<std::vector<int>> by_layer_;  // layer → indices into entries_
  Index trainable_ = 0;
  Matrix values_, gradients_;  // (1, elements)
};

}  // namespace atl
