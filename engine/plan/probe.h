// A probe of a job: some of its ranks, those of one machine, train their parts for a few epochs, with all that the strategy does,
// while other ranks and links are emulated (emulated_transport.h). What kernels reach on this graph in this order beside each
// other, and what the strategy hides, is so measured and not guessed.
#pragma once

#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "plan/part_order.h"

namespace atl {

struct ProbeOptions {
  std::vector<Rank> ranks;  // that are run side by side
  RankTraffic traffic;      // of all ranks
  int threads = 1;          // of each rank
  double server_link = 0;   // bytes a second, each way, of a server's link, which its ranks share
  double memory_link = 0;   // and between two ranks of a server
  double link_work = 0;     // EmulatedLinks::work
};

struct ProbedEpoch {
  double epoch_seconds = 0, evaluation_seconds = 0;  // of the slowest of the ranks
  double exposed_seconds = 0;                        // of its epoch: it stood waiting for links
};

/// Takes the memory of those ranks and the time of 6 (where they are long) to 20 epochs and an evaluation. Weights and losses mean nothing.
ProbedEpoch probe_epoch(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const ProbeOptions& options);

}  // namespace atl
