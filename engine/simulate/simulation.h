// Replays recordings in virtual time and compares strategies by that: recordings in, a table out.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/ledger.h"
#include "simulate/recording.h"
#include "simulate/topology.h"

namespace atl {

// Replays a recording over a topology's links in virtual time: a discrete-event simulation. Each rank
// computes for as long as was measured, and starts and waits for the same operations. Its lanes carry these
// out in the order and slots of a real run (comm/lane_slots.h), and sums in the transport's own rounds. Links
// and processors are shared fairly, anew at each event. What a rank sends never depends on time.

using Exposed = std::array<double, kTraffics>;  // seconds that a rank waited, by purpose

struct ReplayedEpoch {
  double end = 0;  // seconds from the start until the rank's compute thread ended the epoch
  // seconds in which the thread computed: more than recorded where messages took its processor
  double compute = 0;
  Exposed exposed{};
  double without_batch = 0;  // seconds in which it waited because the next batch wasn't made
  double waited() const;
};

struct Replayed {
  std::vector<std::vector<ReplayedEpoch>> ranks;  // (ranks, epochs)

  /// Seconds between the ends of consecutive epochs, for epochs after the first. An epoch ends when the last
  /// rank ends it.
  std::vector<double> epochs() const;
};

/// Throws Error where the ranks' operations don't fit each other, because the ranks would wait for ever.
Replayed replay(const Recording& recording, const Topology& topology);

struct RecordedStrategy {
  std::string label;  // "graph:overlap=false"
  Recording recording;
};

/// Seconds of an epoch, as the mean over the second half of the epochs. They are those of the rank that
/// computes longest: the other ranks wait for it, and their waits aren't communication.
struct SimulatedRow {
  std::string label;
  double epoch = 0, compute = 0, exposed = 0;
  double without_batch = 0;                    // waits for mini-batches that weren't made yet
  double compute_of_all = 0;                   // computing, summed over ranks
  double bytes_inside = 0, bytes_between = 0;  // sent by all ranks in an epoch
  Exposed waits{};                             // seconds that ranks waited, by purpose, mean over ranks
  // an epoch whose messages take no time: the bound that computing and its order set
  double free_links = 0;
  double speed_up = 1;  // the first row's epoch over this one's
  double share() const { return epoch > 0 ? exposed / (compute + exposed + without_batch) : 0; }
};

struct Simulation {
  Topology topology;       // the topology, with links as replayed
  double share_asked = 0;  // communication's share that was asked for; 0: links are as in the file
  double share_reached = 0;
  std::vector<SimulatedRow> rows;
};

/// Replays one recording over a topology, and returns its steady epoch.
SimulatedRow simulate(const RecordedStrategy& strategy, const Topology& topology);

/// Simulates all strategies. The others are compared with the first.
Simulation simulate_all(const std::vector<RecordedStrategy>& strategies, const Topology& topology);

/// The topology with all its links scaled by one factor, so that `baseline` communicates for this share of
/// its epoch. Throws Error where no factor does that.
Topology with_share(const RecordedStrategy& baseline, const Topology& topology, double share);

std::string to_text(const Simulation& simulation, const std::vector<RecordedStrategy>& strategies);
/// All simulations as one JSON object.
std::string to_json(const std::vector<Simulation>& simulations,
                    const std::vector<RecordedStrategy>& strategies);

}  // namespace atl
