// Strategies compared in virtual time: recordings in, a table out.
#pragma once

#include <string>
#include <vector>

#include "simulate/recording.h"
#include "simulate/replay.h"
#include "simulate/topology.h"

namespace atl {

struct RecordedStrategy {
  std::string label;  // "graph:overlap=false"
  Recording recording;
};

/// Seconds of an epoch, as the mean over the second half of the epochs. They are those of the rank that
/// computes longest: the other ranks wait for it, and these waits aren't communication.
struct SimulatedRow {
  std::string label;
  double epoch = 0, compute = 0, exposed = 0;
  double without_batch = 0;                    // in which it waited because a mini-batch wasn't made yet
  double compute_of_all = 0;                   // summed over ranks
  double bytes_inside = 0, bytes_between = 0;  // sent by all ranks in an epoch
  Exposed waits{};                             // seconds that ranks waited, by purpose, mean over ranks
  // an epoch whose messages take no time: the bound that computing and its order set
  double free_links = 0;
  double speed_up = 1;  // the first row's epoch over this one's
  double share() const { return epoch > 0 ? exposed / (compute + exposed + without_batch) : 0; }
};

struct Simulation {
  Topology topology;       // with the links as replayed
  double share_asked = 0;  // of communication in the baseline's epoch; 0: links are as in the file
  double share_reached = 0;
  std::vector<SimulatedRow> rows;
};

/// One recording's steady epoch over a topology.
SimulatedRow simulate(const RecordedStrategy& strategy, const Topology& topology);

/// Simulates all of them; the first is the one that the others are compared with.
Simulation simulate_all(const std::vector<RecordedStrategy>& strategies, const Topology& topology);

/// The topology with all its links scaled by one factor, so that `baseline` communicates for this share of
/// its epoch. Throws Error where no factor does that.
Topology with_share(const RecordedStrategy& baseline, const Topology& topology, double share);

std::string to_text(const Simulation& simulation, const std::vector<RecordedStrategy>& strategies);
/// All simulations as one JSON object.
std::string to_json(const std::vector<Simulation>& simulations,
                    const std::vector<RecordedStrategy>& strategies);

}  // namespace atl
