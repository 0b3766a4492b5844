// How often messages are polled for. Waiting costs processor time or latency; on a machine whose cores all compute, a thread that
// spins steals from one that works. The compromise: while the compute thread stands waiting, its core is idle, so messages are
// polled for without a pause for a few tens of microseconds; otherwise, and after that, the thread sleeps 1/16 of the time it has
// waited, between 5 and 100 µs. A wait so costs at most about 6 % more than its messages need. Where bulk alone travels while the
// compute thread works, nobody is in a hurry: the thread sleeps for as long as the link needs for a part of what the library has
// handed to it, up to a millisecond.
#pragma once

#include <chrono>
#include <cstdint>

namespace atl {

class PollPace {
 public:
  using Nanoseconds = std::chrono::nanoseconds;

  /// Who waits for what is under way.
  enum class Hurry {
    kNone,    // nobody: bulk travels while the compute thread works
    kSome,    // perhaps another rank, which has no more to do before a sum
    kStands,  // this rank's compute thread
  };

  /// A bulk operation that sent so many bytes took so long.
  void learn(std::int64_t bytes, Nanoseconds took);
  /// How long to sleep where nothing has come for `waited`; zero: not at all.
  Nanoseconds nap(Nanoseconds waited, Hurry hurry) const;

 private:
  Nanoseconds bulk_{};  // nap beside bulk alone; at first as beside everything
};

}  // namespace atl
