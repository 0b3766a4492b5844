// The thread that communicates for one rank while the compute thread goes on. It alone calls the transport.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "comm/lane_slots.h"
#include "comm/operation.h"
#include "comm/transports.h"
#include "comm/wait_board.h"

namespace atl {

// Decides how often messages are polled for. Polling costs processor time, and sleeping costs latency. Where
// all cores compute, a thread that spins steals from one that works. While the compute thread waits, its core
// is idle. Messages are then polled for without a pause for a few tens of microseconds. After that each sleep
// is 1/16 of the time waited, between 5 and 100 µs, so that a wait lasts at most about 6 % longer than its
// messages. While the compute thread works, each sleep is 1/4 of the time waited, up to a limit. The limit is
// the time that the link needs for a part of the bytes that the library has been given, or two milliseconds.

class PollPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  /// Learns that a bulk operation that sent `bytes` bytes took `took`.
  void learn(std::int64_t bytes, Nanoseconds took) {
    if (bytes < kHandedOver) return;
    const Nanoseconds needed(std::int64_t(double(took.count()) * double(kHandedOver) / double(bytes)));
    bulk_ = std::clamp((bulk_ + needed) / 2, kLongest, kLongestBeside);
  }
  /// How long to sleep when nothing has arrived for `waited`; zero: not at all. `stands`: the compute thread
  /// is waiting.
  Nanoseconds nap(Nanoseconds waited, bool stands) const {
    if (stands && waited < kPollWithoutSleep) return Nanoseconds(0);
    if (stands) return std::clamp(waited / 16, kShortest, kLongest);
    return std::clamp(waited / 4, kShortest, std::max(bulk_, kLongest));
  }

 private:
  static constexpr Nanoseconds kPollWithoutSleep = std::chrono::microseconds(40);
  static constexpr Nanoseconds kShortest = std::chrono::microseconds(5),
                               kLongest = std::chrono::microseconds(100),
                               kLongestBeside = std::chrono::microseconds(2000);
  static constexpr std::int64_t kHandedOver = 128 << 10;  // bytes, of the 512 KiB that a socket takes

  Nanoseconds bulk_{};  // the longest sleep while the compute thread works; 0: the link's speed isn't known
};

/// Starts the thread, which opens the transport; the constructor throws what open() threw.
class Progress final : public ProgressEngine, private LaneSlots::Watcher {
 public:
  Progress(std::unique_ptr<Transport> transport, const Communicator::Options& options);
  /// Abandons what is unfinished, closes the transport and joins.
  ~Progress() override;

  Transport& transport() override { return *transport_; }
  void enqueue(std::shared_ptr<Operation> operation) override;
  /// Sleeps until `operation` is finished. If nothing moves in its lane for the time-out, the operations
  /// under way and all later ones fail, with the names of the ranks that they wait for. If this rank's device
  /// doesn't finish the work before an operation by then, they fail with this rank's name, whether or not a
  /// thread waits.
  void wait(Operation& operation) override;
  void abandon() override;
  double cpu_seconds() const override;
  double busy_seconds() const override;

  /// Waits shorter than this are normal and not entered on the board.
  static constexpr std::chrono::seconds kLongWait{1};

 private:
  using Clock = std::chrono::steady_clock;
  using Running = LaneSlots::Running;
  /// A thread in wait(): the compute thread, or the one that fetches ahead.
  struct Waiter {
    bool stands = false;
    Lane lane = Lane::kSmall;  // the lane of the operation that it waits for
    Clock::time_point since;
  };
  static constexpr std::size_t kComputes = 0, kPrefetches = 1;

  void thread_main();
  void loop();
  void go_round(std::unique_lock<std::mutex>& lock);
  void await_work(std::unique_lock<std::mutex>& lock);
  void starts(Running& running) override;
  void moves(const Running& running) override;
  void arrives(const Running& running) override;
  [[noreturn]] void fail_hung(const Operation& operation) const;
  void finish_arrived();
  void fail_all(const std::string& why);
  bool fail_late_device(Clock::time_point now);
  std::string missing_ranks();
  void rest(std::unique_lock<std::mutex>& lock);
  Clock::time_point longest_silence(Clock::time_point now) const;
  void tell_wait(Clock::time_point now);

  std::unique_ptr<Transport> transport_;
  const Communicator::Options options_;
  LaneSlots slots_{*transport_, *this};  // lock_ guards the queues; only the progress thread uses the slots
  std::array<Clock::time_point, kLanes> arrived_{};  // by lane: when the last operation arrived
  std::array<Clock::time_point, kLanes> moved_{};    // by lane: when a part of an operation last moved
  PollPace pace_;
  bool is_told_ = false;  // whether the transport tells of arrivals

  mutable std::mutex lock_;  // guards the members below
  std::condition_variable work_, done_;
  bool stop_ = false, abandoned_ = false, opened_ = false, failing_ = false;
  bool arrived_since_ = false;  // the transport has told of an arrival since the thread last rested
  Clock::time_point looked_;    // when the progress thread last went round its loop
  std::optional<Clock::time_point> busy_since_;  // since when operations have been under way
  Clock::duration busy_{};                       // total time with operations under way before that
  std::string broken_;                           // why every further operation fails; empty: none does
  std::exception_ptr open_failure_;
  std::array<Waiter, 2> waiters_;
  Clock::time_point next_telling_;  // when the board is told next; max(): never
  bool told_ = false;               // the board shows a wait

  std::thread thread_;
};

}  // namespace atl
