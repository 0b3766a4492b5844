// In which order a stage of a pipeline infers its chunks. Exact inference reads rows of this pass alone: a
// layer's chunk follows what it reads of the layer before, in any chunk. So a chunk goes on to the next
// layer, and to the next stage, as soon as that is there, instead of when all are.
#pragma once

#include <span>
#include <vector>

namespace atl {

/// By chunk: the others that it reads, in any layer that gathers.
using ChunkReads = std::vector<std::vector<int>>;

/// One thing that a stage does.
struct FlowStep {
  enum class Kind {
    kArrive,  // waits for the chunk's rows of the stage before
    kRun,     // a layer of the stage over the chunk
    kLeave    // sends what the last layer has made of it
  };
  Kind kind = Kind::kRun;
  int chunk = 0;
  int layer = 0;  // of the stage, from 0
  bool operator==(const FlowStep&) const = default;
};

/// All chunks, those beside each other that read each other: each next one is one that reads many that are
/// there already, and few others. Chunks arrive and leave in this order in every stage.
std::vector<int> flow_order(const ChunkReads& reads);

/// Of a stage with a layer for each of `gathers` (whether it does). Whatever can be done is, the last layer's
/// first.
std::vector<FlowStep> chunk_flow(const ChunkReads& reads, std::span<const int> order,
                                 const std::vector<bool>& gathers);

}  // namespace atl
