// Recording a job's ranks on this machine, as `atoll simulate` and `atoll plan --topology` do.
#pragma once

#include "command/job_data.h"
#include "simulate/record.h"
#include "simulate/topology.h"

namespace atl {

/// Throws Error where the job's strategy can't be recorded so.
void check_recordable(const Job& job, const RecordOptions& how);

/// `how`: servers of the ranks, and the parts that they train, are filled in. Throws Error where the topology has another number of ranks, this machine hasn't the memory of all, or the strategy can't be recorded.
Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, RecordOptions how, Say say);

}  // namespace atl
