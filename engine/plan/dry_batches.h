// What mini-batches will hold and send, without training: each rank's first batches are drawn as in training (their draws are keyed,
// so from the prepared graph they are the same), and one rank after the other goes through them on kernels that compute nothing.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "plan/batch_source.h"
#include "plan/dry_run.h"
#include "plan/epoch_work.h"

namespace atl {

struct DryBatches {
  DryRun run;  // schedule.halo: batches ahead of time, and what fetches their rows
  EpochWork work;
  Index owned = 0, arcs = 0;  // rows of the rank, and arcs to them
  Index pages = 0;            // of mapped arcs: the rank's own, or the whole graph's
  // Where features are held by columns, of an epoch:
  double whole_rows = 0;  // of the rank's batches, that are made whole at it
  double pushed = 0;      // bytes of the batches' first layers, to those with the other columns
  double by_rows = 0;     // bytes that it would ask for and get, were they held by rows
};

/// By rank. Over at most 32 batches each; epochs by their means, memory by the largest.
std::vector<DryBatches> dry_batches(const Job& job, const Dataset& dataset, const BatchSource& source,
                                    int threads, const std::vector<std::string>& hosts);

}  // namespace atl
