// Rounds of work that come again and again (a step, an evaluation), replayed as CUDA graphs.
//
// Of a round the stream keeps its segments: runs of calls between those that the host or another stream needs
// to have happened (a mark, a copy). A segment is known by its number in the round. When it comes for the
// first times, its calls are done at once, and recorded. Has it come twice with the same kernels on the same
// grids, it is captured as a graph. From then on calls are held back and compared with those recorded. At the
// segment's end kernels whose arguments differ (keys of draws, the step's rate) are set in the graph, and it
// is launched. Where a library's call differs, the segment is captured anew into the same graph. Where the
// calls themselves differ, those held back are done one by one, and all begins anew; a segment that keeps
// differing (mini-batches) is left alone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "tensor/cuda/graph.h"
#include "tensor/device_stream.h"

namespace atl::cuda {

struct ReplayCounts {
  std::int64_t calls = 0;     // that were done one by one
  std::int64_t launches = 0;  // of graphs
  std::int64_t replayed = 0;  // calls in those
  std::int64_t set = 0;       // of them, kernels whose arguments differed
  std::int64_t captures = 0;
};

/// Of one stream, called by whoever gives it work.
class Rounds {
 public:
  /// Fewer calls aren't worth a graph: to launch one takes the host about as long as two or three of them.
  /// Not measured yet.
  static constexpr std::size_t kFewest = 4;
  /// A segment that has differed so often since it was last replayed is left alone.
  static constexpr int kMostChanges = 3;
  /// Of a round; what comes behind them is left alone.
  static constexpr std::size_t kMostSegments = 1024;

  explicit Rounds(const Target& on) : on_(on) {}

  void begin(Round round);
  /// A call comes. Where it says so, give() has to be told of it; if not, the caller does it.
  bool records();
  template <class... Argument>
  void give(const Call& call, const Argument&... arguments) {
    now_.add(call, arguments...);
    go_on();
  }
  /// What was given so far is on the stream when it returns.
  void end_segment();
  const ReplayCounts& counts() const { return counts_; }

 private:
  struct Segment {
    Recording kept;  // as it came last; as the graph has it
    Graph graph;
    int changes = 0;
    bool left_alone = false;
  };

  Segment* segment();
  void go_on();
  void release();
  void replay(Segment& segment);
  void look_at(Segment& segment);

  Target on_;
  std::array<std::deque<Segment>, 2> rounds_;  // by kind
  std::deque<Segment>* round_ = nullptr;       // null: none has begun
  std::size_t number_ = 0;                     // of the segment
  bool any_ = false;                           // calls have come
  bool holds_back_ = false;
  Recording now_;  // the segment so far
  ReplayCounts counts_;
};

}  // namespace atl::cuda
