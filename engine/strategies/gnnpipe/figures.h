// When a pipeline's rank worked on each chunk of the last epoch, and how many of its values aren't finite.
#pragma once

#include <chrono>
#include <span>
#include <vector>

namespace atl {

/// When it worked on one chunk: seconds of the rank's steady clock.
struct ChunkTimes {
  struct Span {
    double begin = 0, end = 0;
    double seconds() const { return end - begin; }
  } forward, backward;
  int chunk = 0;
};

struct StageTimes {
  int stage = 0, convolutions = 0;     // convolutions: how many of its layers read neighbours
  bool leads = true;                   // whether it is the first of the ranks that share the stage
  std::span<const ChunkTimes> chunks;  // in the epoch's order
};

/// How many elements of layers' outputs weren't finite, in a step whose loss or gradient wasn't. To count
/// them, the step's forward is computed again, so no step may follow. Collective.
struct StageNonFinite {
  int stage = 0;
  std::vector<double> by_layer;  // (the model's layers) elements of outputs; 0 for layers of other stages
};

// Notes when a stage works on each chunk of an epoch; the gaps are the pipeline's bubbles. Waiting for a
// chunk to arrive isn't work.

class ChunkClock {
 public:
  void begin_epoch(std::span<const int> order) {
    times_.resize(order.size());
    for (std::size_t place = 0; place < order.size(); ++place) times_[place] = {{}, {}, order[place]};
  }
  /// The first call counts, so that what comes before the stage's first chunk belongs to that chunk.
  void begin_forward(std::size_t place) {
    if (times_[place].forward.begin == 0) times_[place].forward.begin = now();
  }
  void end_forward(std::size_t place) { times_[place].forward.end = now(); }
  void begin_backward(std::size_t place) { times_[place].backward.begin = now(); }
  /// The last call counts.
  void end_backward(std::size_t place) { times_[place].backward.end = now(); }
  std::span<const ChunkTimes> times() const { return times_; }

 private:
  static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  std::vector<ChunkTimes> times_;  // by place in the epoch's order
};

}  // namespace atl
