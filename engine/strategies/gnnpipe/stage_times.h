// When a rank of a pipeline worked on which chunk, in the last epoch.
#pragma once

#include <span>

namespace atl {

/// Of one chunk: seconds of the rank's steady clock.
struct ChunkTimes {
  struct Span {
    double begin = 0, end = 0;
    double seconds() const { return end - begin; }
  } forward, backward;
  int chunk = 0;
};

struct StageTimes {
  int stage = 0, convolutions = 0;  // of its layers, those that read neighbours
  bool leads = true;                // of the stage's ranks, which work on the same chunks at once, the first
  std::span<const ChunkTimes> chunks;  // in the epoch's order
};

}  // namespace atl
