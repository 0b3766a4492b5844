// How far the clocks of different servers are apart, so that a trace can show all ranks on one clock.
#pragma once

#include <cstdint>
#include <vector>

#include "comm/communicator.h"

namespace atl {

/// A clock's offset, in nanoseconds.
struct ClockOffset {
  std::int64_t ahead = 0;  // how far it is ahead of rank 0's steady clock
  std::int64_t error = 0;  // at most: half of the quickest round trip
};

/// Returns (ranks) the offsets, on every rank. Rank 0 makes a few round trips with each other rank, and the
/// quickest counts. Collective.
std::vector<ClockOffset> measure_clock_offsets(Communicator& comm);

}  // namespace atl
