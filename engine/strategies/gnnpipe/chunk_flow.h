// The order in which a stage of a pipeline infers its chunks. Exact inference reads no row of an earlier
// pass: before a layer computes a chunk, the layer below must have computed every chunk that it reads. A
// chunk goes on to the next layer, and to the next stage, as soon as those are ready, and doesn't wait for
// all chunks.
#pragma once

#include <span>
#include <vector>

namespace atl {

/// For each chunk, the other chunks that it reads in a layer that gathers.
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

/// Orders the chunks so that those that read each other are near each other: each next chunk reads many of
/// the chunks before it and few others. Chunks arrive and leave in this order in every stage.
std::vector<int> flow_order(const ChunkReads& reads);

/// The steps of a stage whose layers gather or don't, as `gathers` says. Each next step is the one of the
/// last layer that can run by then.
std::vector<FlowStep> chunk_flow(const ChunkReads& reads, std::span<const int> order,
                                 const std::vector<bool>& gathers);

}  // namespace atl
