// Keeps the operations of a rank that are under way. Each lane starts its operations in order and has several
// of them under way, in slots; lanes run beside each other. This class uses no thread and no clock: the
// progress thread drives it, or a recorder or replay of a run.
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
    std::chrono::steady_clock::time_point since{};  // set by the watcher when it starts
    std::int64_t moved = 0;                         // pending->moved() at the last look
    bool arrived = false;                           // all rounds are over; not yet marked finished
  };
  /// Told of events: advance_all() calls it once for each event of an operation.
  class Watcher {
   public:
    virtual ~Watcher() = default;
    virtual void starts(Running& running) = 0;
    virtual void moves(const Running& running) = 0;  // a part of it has left or arrived
    virtual void arrives(const Running& running) = 0;
  };

  /// Both arguments outlive it.
  LaneSlots(Transport& transport, Watcher& watcher) : transport_(transport), watcher_(watcher) {}

  // Queues: the threads that enqueue and the thread that takes use them under one lock.
  void enqueue(std::shared_ptr<Operation> operation) {
    queues_[std::size_t(operation->lane)].push_back(std::move(operation));
  }
  bool any_queued() const {
    return std::ranges::any_of(queues_, [](const auto& queue) { return !queue.empty(); });
  }
  /// The lane's next operation; null: none is queued.
  const Operation* next(Lane lane) const {
    const auto& queue = queues_[std::size_t(lane)];
    return queue.empty() ? nullptr : queue.front().get();
  }
  /// Moves the next operations of each lane to free slots. advance_all() starts those of bulk and of prefetch
  /// in the same order. True if any lane runs.
  bool take_next();

  // Slots: used by one thread only.
  /// Advances all operations under way. True if anything started, went on to its next round or arrived.
  /// Throws what the transport throws.
  bool advance_all();
  /// Marks arrived operations as finished; true if there were any. Call it with the queues' lock held:
  /// otherwise a waiter that has just read the flag would miss the notice and sleep on.
  bool finish_arrived();
  bool any_running() const;
  /// Calls `look` for each operation that is under way, lane by lane.
  template <class Look>
  void for_each_running(Look look) {
    for (auto& lane : running_)
      for (Running& running : lane)
        if (running.operation) look(running);
  }
  /// Removes all operations, under way or queued, and marks them as failed for `why`.
  void fail_all(const std::string& why);

 private:
  Running* place_of(const Operation& operation);
  bool advance(Running& running, int slot);

  Transport& transport_;
  Watcher& watcher_;
  std::array<std::array<Running, kSlots>, kLanes> running_;  // by lane and slot
  std::size_t next_sum_ = 0;  // turn of the next sum among the kSumsAtOnce slots
  std::array<std::vector<std::shared_ptr<Operation>>, kLanes> queues_;  // by lane; a deque would allocate
};

}  // namespace atl
