// Which rank the kernel has killed because the container's memory was used up. It tells nobody: it counts, and the rank is gone.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <map>
#include <optional>

#include "base/types.h"

namespace atl {

class MemoryKills {
 public:
  using Clock = std::chrono::steady_clock;
  using Ranks = std::map<pid_t, Rank>;

  /// `ranks`: those that run (launch/rank_processes.h); `count`: the kernel's kills in this container, if it tells
  /// (base/cgroup.h). Kills before are nobody's.
  MemoryKills(std::function<Ranks()> ranks, std::function<std::optional<long>()> count);

  /// The rank that is gone since the count went up; to be called again and again. Where none is gone half a minute later, somebody
  /// else was killed (a data loader, a shell), and the run may well go on.
  std::optional<Rank> killed_rank(Clock::time_point now);

 private:
  const std::function<Ranks()> read_ranks_;
  const std::function<std::optional<long>()> read_count_;
  long count_;
  Ranks ranks_;
  std::optional<Clock::time_point> looked_for_until_;  // whoever was killed last
};

}  // namespace atl
