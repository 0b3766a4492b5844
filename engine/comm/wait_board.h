// Whom a rank stands waiting for, written down where its other threads can see it: a rank that is waited for by all and waits
// for nobody is the one that hangs.
#pragma once

#include <chrono>
#include <mutex>
#include <vector>

#include "base/types.h"

namespace atl {

/// Any thread may call it.
class WaitBoard {
 public:
  using Clock = std::chrono::steady_clock;
  struct Wait {
    std::vector<Rank> peers;  // ascending; none: it works, or waits for less than Progress::kLongWait
    double seconds = 0;
  };

  void enter(std::vector<Rank> peers, Clock::time_point since);
  void clear() { enter({}, {}); }
  Wait read() const;

 private:
  mutable std::mutex lock_;
  std::vector<Rank> peers_;
  Clock::time_point since_;
};

}  // namespace atl
