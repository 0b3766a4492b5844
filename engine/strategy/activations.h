// The memory of a full-batch schedule, allocated once: layers' outputs, what forward leaves for backward, and gradients.
// Buffers that are never alive together are shared.
#pragma once

#include <memory>
#include <vector>

#include "model/model.h"
#include "strategy/schedule.h"

namespace atl {

/// Which passes the memory must serve.
enum class Passes {
  kTraining,  // all layers' outputs and saved matrices live from forward to backward
  kRecomputing,  // recompute: layer — saved matrices are made again just before a layer's backward: one layer's at a time
  kInference  // no backward: outputs take turns in two buffers
};

class Activations {
 public:
  /// For layers first … last of `model` on `owned` rows; those before have none. source_rows: as
  /// Exchange::source_rows(). `model` outlives it.
  Activations(Device device, const Model& model, int first, Index owned,
              const std::vector<Index>& source_rows, Passes passes);

  MatrixView output(int layer) const;  // (owned, the layer's out)
  Saved& saved(int layer) { return saved_[std::size_t(layer)]; }
  MatrixView d_logits() { return d_logits_; }  // (owned, classes)
  /// (owned, the layer's in). Shares memory with the gradient of the layer's output only where the layer works in
  /// place.
  MatrixView d_input(int layer);
  int tapped() const { return tapped_; }  // layer whose output is the tap; −1: none
  MatrixView d_tap() { return d_tap_; }   // (owned, the tap's width)
  /// Adds what is held.
  void count(ScheduleBytes& bytes) const;

 private:
  void allocate_outputs(int first);
  void allocate_saved(const std::vector<Index>& source_rows);
  void allocate_gradients(int first);
  int gradient_turn(int layer) const;
  const Layer& layer(int l) const { return *model_.layers[std::size_t(l)]; }
  int layers() const { return int(model_.layers.size()); }

  Device device_;
  const Model& model_;
  Index owned_;
  Passes passes_;
  int tapped_ = -1;
  std::vector<std::unique_ptr<Matrix>> buffers_;
  std::vector<Matrix*> outputs_;      // by layer, into buffers_
  std::vector<Matrix> saved_memory_;  // (1, elements): by layer, or one for all
  std::vector<Saved> saved_;          // by layer, into saved_memory_
  Matrix d_logits_, d_tap_;
  Matrix d_rows_[2];  // (owned, widest): gradients take turns
};

}  // namespace atl
