// When a rank of a pipeline worked on which chunk, in the last epoch.
#pragma once

#include <chrono>
#include <span>
#include <vector>

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

// Notes when a stage works on each chunk of an epoch: what is left between them is the pipeline's bubbles. A
// stage that waits for a chunk to arrive doesn't work on it.

class ChunkClock {
 public:
  void begin_epoch(std::span<const int> order) {
    times_.resize(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) times_[place] = {{}, {}, order[place]};
  }
  /// What comes before its first chunk counts for that one: the first call is the one that counts.
  void begin_forward(std::size_t place) {
    if (times_[place].forward.begin == 0) times_[place].forward.begin = now();
  }
  void end_forward(std::size_t place) { times_[place].forward.end = now(); }
  void begin_backward(std::size_t place) { times_[place].backward.begin = now(); }
  /// Likewise, the last call.
  void end_backward(std::size_t place) { times_[place].backward.end = now(); }
  std::span<const ChunkTimes> times() const { return times_; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  std::vector<ChunkTimes> times_;  // by place in the epoch's order
};

}  // namespace atl
