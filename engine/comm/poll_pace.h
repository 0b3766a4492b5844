// How often messages are polled for. Waiting costs processor time or latency; on a machine whose cores all
// compute, a thread that spins steals from one that works. While the compute thread stands waiting, its core
// is idle, so messages are polled for without a pause for a few tens of microseconds, and then after sleeps
// of 1/16 of the time that was waited, between 5 and 100 µs: a wait costs at most about 6 % more than its
// messages need. While it works, each sleep is time for it: 1/4 of the time waited, at most as long as the
// link needs for a part of what the library has handed to it, or two milliseconds.
#pragma once

#include <chrono>
#include <cstdint>

namespace atl {

class PollPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  /// A bulk operation that sent so many bytes took so long.
  void learn(std::int64_t bytes, Nanoseconds took);
  /// How long to sleep where nothing has come for `waited`; zero: not at all. `stands`: the compute thread
  /// stands waiting.
  Nanoseconds nap(Nanoseconds waited, bool stands) const;

 private:
  Nanoseconds bulk_{};  // the longest sleep while the compute thread works; 0: nothing is known of the link
};

}  // namespace atl
