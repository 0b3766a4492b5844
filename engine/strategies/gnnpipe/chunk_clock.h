// Notes when a stage works on each chunk of an epoch: what is left between them is the pipeline's bubbles. A stage that waits for a
// chunk to arrive doesn't work on it.
#pragma once

#include <chrono>
#include <vector>

#include "strategies/gnnpipe/stage_times.h"

namespace atl {

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
