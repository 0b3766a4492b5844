// A recording replayed over a topology's links, in virtual time: a discrete-event simulation. Each rank
// computes for as long as was measured, and starts and waits for the same operations. Its lanes carry them
// out in the order and slots of a real run (comm/lane_slots.h), and sums in the transport's own rounds. Links
// and processors are shared fairly, anew at each event. Nothing that a rank sends depends on time.
#pragma once

#include <array>
#include <vector>

#include "comm/ledger.h"
#include "simulate/recording.h"
#include "simulate/topology.h"

namespace atl {

using Exposed = std::array<double, kTraffics>;  // seconds that a rank waited, by purpose

struct ReplayedEpoch {
  double end = 0;  // seconds from the start until the rank's compute thread ended the epoch
  // seconds that it computed, by the clock: more than recorded where messages took its processor
  double compute = 0;
  Exposed exposed{};
  double without_batch = 0;  // seconds that it waited because the next batch wasn't made
  double waited() const;
};

struct Replayed {
  std::vector<std::vector<ReplayedEpoch>> ranks;  // (ranks, epochs)

  /// Seconds between the ends of consecutive epochs, each on the rank that ends last; for epochs after the
  /// first.
  std::vector<double> epochs() const;
};

/// Throws Error where the ranks' operations don't fit each other, so that they would wait for ever.
Replayed replay(const Recording& recording, const Topology& topology);

}  // namespace atl
