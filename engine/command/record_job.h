// Recording a job's ranks on this machine, as `atoll simulate` and `atoll plan --topology` do.
#pragma once

#include "command/job_data.h"
#include "plan/simulate/recording.h"
#include "plan/simulate/topology.h"

namespace atl {

struct RecordHere {
  int epochs = 6;   // that are recorded
  int at_once = 1;  // ranks that compute at the same time
  int threads = 1;  // of each rank
};

/// Throws Error where the job's strategy can't be recorded.
void check_recordable(const Job& job);

/// Throws Error where the topology has another number of ranks, this machine hasn't the memory of all, or the strategy can't be recorded.
Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, const RecordHere& how, Say say);

}  // namespace atl
