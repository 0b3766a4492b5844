// Rounds of repeated work (a step, an evaluation), replayed as CUDA graphs.
//
// The stream divides a round into segments: runs of calls between points that the host or another stream
// needs to have happened (a mark, a copy). A segment is known by its number in the round. At first its calls
// run at once, and are recorded. When it has come twice with the same kernels on the same grids, it is
// captured as a graph. From then on calls are held back and compared with the recorded ones. At the segment's
// end kernels whose arguments differ (keys of draws, the step's rate) are set in the graph, and the graph is
// launched. If a library's call differs, the segment is captured again into the same graph. If the calls
// themselves differ, those held back run one by one, and recording begins again; a segment that keeps
// differing (mini-batches) is left alone.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "tensor/cuda/recording.h"
#include "tensor/device_stream.h"

namespace atl::cuda {

/// A CUDA graph of recorded calls. One launch does them all, one after the other, each with the same effect
/// as by itself.
class Graph {
 public:
  Graph() = default;
  ~Graph() { forget(); }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  bool made() const { return exec_ != nullptr; }
  /// Captures the calls without running them. Each ran before, so that whatever a first call loads is loaded.
  /// An existing graph is updated, or made again if CUDA can't update it.
  void make(Recording& calls, const Target& on);
  /// Sets kernel i's arguments for the next launch to the recording's.
  void set(std::size_t i, Recording& calls);
  void launch(cudaStream_t stream);
  void forget();

 private:
  cudaGraph_t capture(Recording& calls, const Target& on, std::vector<cudaGraphNode_t>& nodes);

  cudaGraph_t graph_ = nullptr;  // from which exec_ was first made; owns the nodes
  cudaGraphExec_t exec_ = nullptr;
  std::vector<cudaGraphNode_t> nodes_;  // by call; null: a library's call
};

struct ReplayCounts {
  std::int64_t calls = 0;     // calls that ran one by one
  std::int64_t launches = 0;  // launches of graphs
  std::int64_t replayed = 0;  // calls in these launches
  std::int64_t set = 0;       // kernels among these whose arguments differed
  std::int64_t captures = 0;
};

/// Belongs to one stream. Called by the thread that gives it work.
class Rounds {
 public:
  /// Fewer calls aren't worth a graph, whose launch takes the host about as long as two or three calls. Not
  /// measured yet.
  static constexpr std::size_t kFewest = 4;
  /// A segment that has differed this often since it was last replayed is left alone.
  static constexpr int kMostChanges = 3;
  /// Segments per round; later ones are left alone.
  static constexpr std::size_t kMostSegments = 1024;

  explicit Rounds(const Target& on) : on_(on) {}

  void begin(Round round);
  /// Call before each call. True: pass the call to give(); false: the caller runs it.
  bool records();
  template <class... Argument>
  void give(const Call& call, const Argument&... arguments) {
    now_.add(call, arguments...);
    go_on();
  }
  /// On return all calls given so far are on the stream.
  void end_segment();
  const ReplayCounts& counts() const { return counts_; }

 private:
  struct Segment {
    Recording kept;  // as in its last round, and as in the graph
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
  std::deque<Segment>* round_ = nullptr;       // null: no round has begun
  std::size_t number_ = 0;                     // of the current segment
  bool any_ = false;                           // whether it has any calls
  bool holds_back_ = false;
  Recording now_;  // the current segment's calls
  ReplayCounts counts_;
};

}  // namespace atl::cuda
