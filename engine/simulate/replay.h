// A recording over a topology's links, in virtual time: a discrete-event simulation. Each rank computes for
// as long as it was measured to, and starts and waits for the same operations. Its lanes carry them out in
// the order and slots of a real run (comm/lane_slots.h), sums in the transport's own rounds. Links and
// processors are shared fairly, anew at each event. Nothing that a rank sends depends on time.
#pragma once

#include <array>
#include <vector>

#include "comm/ledger.h"
#include "simulate/recording.h"
#include "simulate/topology.h"

namespace atl {

using Exposed = std::array<double, kTraffics>;  // seconds in which a rank stood waiting, by purpose

struct ReplayedEpoch {
  double end = 0;  // when the rank's compute thread was through, since the start
  // seconds that it computed, in time as it passes: longer where messages took its processor
  double compute = 0;
  Exposed exposed{};
  double without_batch = 0;  // seconds in which it stood because the next batch wasn't made
  double waited() const;
};

struct Replayed {
  std::vector<std::vector<ReplayedEpoch>> ranks;  // (ranks, epochs)

  /// Seconds from the end of one epoch to that of the next, both on the rank that is through last; of the
  /// epochs after the first.
  std::vector<double> epochs() const;
};

/// Throws Error where the ranks' operations don't fit each other: then they wait for ever.
Replayed replay(const Recording& recording, const Topology& topology);

}  // namespace atl
