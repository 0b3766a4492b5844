// Which operations of a rank are under way: each lane starts its operations in order and has several of them
// under way, in slots; lanes run beside each other. Knows no thread and no clock: the progress thread drives
// it, and so does what records or replays a run.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "comm/operation.h"
#include "comm/transports.h"

namespace atl {

class LaneSlots {
 public:
  struct Running {
    std::shared_ptr<Operation> operation;
    Pending* pending = nullptr;
    std::chrono::steady_clock::time_point since{};  // the watcher's, to note when it started
    std::int64_t moved = 0;                         // of `pending`, as it was last seen
    bool arrived = false;                           // all its rounds; to be marked finished
  };
  /// Told of each operation, once each time, by advance_all().
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void starts(Running& running) = 0;
    virtual void moves(const Running& running) = 0;  // a part of it has left or arrived
    virtual void arrives(const Running& running) = 0;
  };

  /// Both outlive it.
  LaneSlots(Transport& transport, Watcher& watcher) : transport_(transport), watcher_(watcher) {}

  // Queues: whoever enqueues, and whoever takes, under one lock.
  void enqueue(std::shared_ptr<Operation> operation) {
    queues_[std::size_t(operation->lane)].push_back(std::move(operation));
  }
  bool any_queued() const {
    return std::ranges::any_of(queues_, [](const auto& queue) { return !queue.empty(); });
  }
  /// Moves the next operations of each lane to free slots; advance_all() starts bulk's and prefetch's in that
  /// order. True if any lane runs.
  bool take_next();

  // Slots: one thread's own.
  /// Looks at all that is under way. True if anything started, went on to its next round or has arrived.
  /// Throws what the transport throws.
  bool advance_all();
  /// Marks what has arrived as finished, under the lock of the queues, or a waiter that has just looked at
  /// the flag would sleep through the notice. True if there was any.
  bool finish_arrived();
  bool any_running() const;
  /// Calls `look` for each operation that is under way, lane by lane.
  template <class Look>
  void for_each_running(Look look) {
    for (auto& lane : running_)
      for (Running& running : lane)
        if (running.operation) look(running);
  }
  /// Takes everything, under way or queued, out, and marks it as failed for `why`.
  void fail_all(const std::string& why);

 private:
  Running* place_of(const Operation& operation);
  bool advance(Running& running, int slot);

  Transport& transport_;
  Watcher& watcher_;
  std::array<std::array<Running, kSlots>, kLanes> running_;             // by lane and slot
  std::size_t next_sum_ = 0;                                            // of kSumsAtOnce slots
  std::array<std::vector<std::shared_ptr<Operation>>, kLanes> queues_;  // a few each: a deque would allocate
};

}  // namespace atl
