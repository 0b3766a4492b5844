// The order in which a stage of a pipeline infers its chunks. Exact inference reads no rows of an earlier
// pass. So before a layer computes a chunk, the layer below must have computed every chunk that it reads. A
// chunk moves on to the next layer and the next stage as soon as it can, and doesn't wait for all chunks.
#pragma once

#include <span>
#include <vector>

namespace atl {

/// For each chunk, the other chunks that it reads in a layer that gathers.
using ChunkReads = std::vector<std::vector<int>>;

/// One thing that a stage does.
struct FlowStep {
  enum class Kind {
    kArrive,  // waits for the chunk's rows from the stage before
    kRun,     // runs a layer of the stage over the chunk
    kLeave    // sends the chunk's output of the last layer
  };
  Kind kind = Kind::kRun;
  int chunk = 0;
  int layer = 0;  // of the stage, from 0
  bool operator==(const FlowStep&) const = default;
};

/// Orders chunks so that those that read each other are close: each next chunk reads many of the chunks
/// before it and few others. Chunks arrive and leave in this order in every stage.
std::vector<int> flow_order(const ChunkReads& reads);

/// The steps of a stage; `gathers` says which of its layers gather. Of the layers that can run, each next
/// step takes the last.
std::vector<FlowStep> chunk_flow(const ChunkReads& reads, std::span<const int> order,
                                 const std::vector<bool>& gathers);

}  // namespace atl
