#include "simulate/kernel_speed.h"

#include "base/error.h"

namespace atl {

double kernel_speed(const Recording& recording, const Topology& topology, Rank rank) {
  if (!topology.rates) return topology.speed;
  ATOLL_CHECK(recording.works.size() == recording.ranks.size(), "a recording without what ranks compute");
  const EpochWork& work = recording.works[std::size_t(rank)];
  const double here = seconds_of(work, recording.rates), there = seconds_of(work, *topology.rates);
  return there > 0 ? here / there : 1;
}

}  // namespace atl
