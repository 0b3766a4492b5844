// How often messages are polled for. Polling costs processor time, sleeping costs latency, and where all
// cores compute, a thread that spins steals from one that works. While the compute thread waits, its core is
// idle. Messages are then polled for without a pause for a few tens of microseconds. After that each sleep is
// 1/16 of the time waited, between 5 and 100 µs, so that a wait lasts at most about 6 % longer than its
// messages. While the compute thread works, each sleep is 1/4 of the time waited. It is at most the time
// that the link needs for a part of what the library has been given, or two milliseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace atl {

class PollPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  /// Learns that a bulk operation that sent `bytes` bytes took `took`.
  void learn(std::int64_t bytes, Nanoseconds took);
  /// How long to sleep when nothing has arrived for `waited`; zero: not at all. `stands`: the compute thread
  /// is waiting.
  Nanoseconds nap(Nanoseconds waited, bool stands) const;

 private:
  Nanoseconds bulk_{};  // the longest sleep while the compute thread works; 0: the link's speed isn't known
};

}  // namespace atl
