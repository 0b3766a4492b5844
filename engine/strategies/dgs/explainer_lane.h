// The thread that explains beside training and beside the making of batches: one explanation at a time, begun
// by the thread that trains, its result waited for by the thread that makes batches.
#pragma once

#include <functional>
#include <memory>

#include "comm/communicator.h"
#include "strategies/dgs/explainer.h"

namespace atl {

class ExplainerLane {
 public:
  /// explain(number, out, stop): called by the lane's thread, with what the number's begin() found in place.
  /// `comm` outlives it: its trace and whoever watches its threads are told.
  using Explain = std::function<void(std::int64_t number, Explanation& out, const std::atomic<bool>& stop)>;
  ExplainerLane(Communicator& comm, Explain explain);
  /// Ends the one under way early.
  ~ExplainerLane();
  ExplainerLane(const ExplainerLane&) = delete;

  /// Numbers ascend by one. By the thread that trains, when the one before has ended. `epoch`: of the run,
  /// for the trace.
  void begin(std::int64_t number, std::int64_t epoch);
  /// In its place, one that is known: before any has begun.
  void put(std::int64_t number, Explanation known);
  /// Waits for it, also where it hasn't begun yet; valid until number + 2 is begun. Null: it won't begin any
  /// more. Rethrows what it threw.
  const Explanation* result(std::int64_t number);
  /// Doesn't wait: null where it hasn't ended, or was followed by more than one.
  const Explanation* known(std::int64_t number);
  /// That were made here, and what they took.
  struct Counts {
    Index explanations = 0;
    double seconds = 0;
  };
  Counts counts();
  /// From here on nobody waits for what hasn't begun.
  void close();
  /// They do again.
  void open();
  /// Nothing has begun, once what is under way has ended. By the thread that trains, while nobody makes
  /// batches.
  void forget();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
