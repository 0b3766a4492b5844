// The memory of a stage's passes over its chunks. Each chunk has its own memory for what forward leaves for
// backward. What only backward needs is shared, because one chunk at a time goes backward. Gradients that
// arrive from the next stage take turns in a few matrices.
#pragma once

#include <span>
#include <vector>

#include "strategies/gnnpipe/chunk_pass.h"

namespace atl {

/// Neither copyable nor movable, because passes point into it. References must outlive it.
class ChunkMemories {
 public:
  /// Without `layers` it is empty. `arriving`: how many chunks' output gradients are there at the same time.
  ChunkMemories(Context& ctx, const Model& model, const LayerRange& layers, Passes passes,
                const GraphPart& part, StageRows& rows, const ChunkPass& pass, std::size_t arriving);
  ChunkMemories(const ChunkMemories&) = delete;

  bool empty() const { return memories_.empty(); }
  PassMemory& of(int chunk) { return memories_[std::size_t(chunk)]; }
  /// Layers write their outputs where the next layer's input lies, which differs from one refresh to the
  /// next.
  void place_outputs();
  /// Keeps outputs that become the history beyond backward.
  void keep_outputs(bool on);
  /// For an epoch whose backward goes over the chunks from the last of `order` to the first.
  void place_gradients(std::span<const int> order);
  void count(ScheduleBytes& bytes) const;

 private:
  LayerRange layers_;
  const GraphPart& part_;
  StageRows& rows_;
  BackwardMemory backward_;
  std::vector<PassMemory> memories_;  // by chunk
  std::vector<Matrix> d_outputs_;     // (rows of the largest chunk, the last layer's out), used in turn
};

}  // namespace atl
