// The thread that explains beside training and beside the making of batches, one explanation at a time. The
// training thread begins an explanation, and the thread that makes batches waits for its result.
#pragma once

#include <functional>
#include <memory>

#include "comm/communicator.h"
#include "strategies/dgs/explainer.h"

namespace atl {

class ExplainerLane {
 public:
  /// The lane's thread calls explain(number, out, stop), which finds what was prepared before begin(number).
  /// `comm` must outlive the lane. The lane reports its work to comm's trace and thread watcher.
  using Explain = std::function<void(std::int64_t number, Explanation& out, const std::atomic<bool>& stop)>;
  ExplainerLane(Communicator& comm, Explain explain);
  /// Ends the explanation under way early.
  ~ExplainerLane();
  ExplainerLane(const ExplainerLane&) = delete;

  /// Called by the training thread once the one before has ended. Numbers ascend by one. `epoch` is the
  /// run's, for the trace.
  void begin(std::int64_t number, std::int64_t epoch);
  /// Puts a known explanation in place of begin(), before any has begun.
  void put(std::int64_t number, Explanation known);
  /// Waits for the explanation, even if it hasn't begun yet. Valid until number + 2 is begun. Null: it won't
  /// begin any more. Rethrows what explain() threw.
  const Explanation* result(std::int64_t number);
  /// As result(), without waiting. Null where the explanation hasn't ended, or number + 2 has begun.
  const Explanation* known(std::int64_t number);
  /// Explanations that this lane made, and their time.
  struct Counts {
    Index explanations = 0;
    double seconds = 0;
  };
  Counts counts();
  /// From now on nobody waits for an explanation that hasn't begun.
  void close();
  /// Ends what close() began.
  void open();
  /// Waits for the one under way, and then forgets all explanations. Called by the training thread while
  /// nobody makes batches.
  void forget();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace atl
