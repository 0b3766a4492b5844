// How far the clocks of ranks on several servers are apart, so that what they did can be told on one.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace atl {

/// Nanoseconds.
struct ClockOffset {
  std::int64_t ahead = 0;  // of rank 0's steady clock
  std::int64_t error = 0;  // at most: half of the quickest round trip
};

/// (ranks) on every rank: a few round trips between rank 0 and each other rank, of which the quickest counts.
/// Collective.
std::vector<ClockOffset> measure_clock_offsets(Communicator& comm);

}  // namespace atl
