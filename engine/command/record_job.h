// Recording a job's ranks on this machine, as `atoll simulate` and `atoll plan --topology` do.
#pragma once

#include <string>

#include "command/job_data.h"
#include "simulate/record.h"
#include "simulate/topology.h"

namespace atl {

/// Throws Error where the job's strategy can't be recorded so.
void check_recordable(const Job& job, const RecordOptions& how);

/// `how`: servers of the ranks, and the parts that they train, are filled in. Throws Error where the topology
/// has another number of ranks, this machine hasn't the memory of all, or the strategy can't be recorded.
Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, RecordOptions how, Say say);

// A manifest's job on the servers that a topology describes, under another strategy than its own if need be.

/// On as many ranks as the topology has, whatever the manifest says, and with its servers where the manifest
/// doesn't say: strategies cut the graph by them. `change`: as of --set; "": none. Throws Error where the
/// manifest's placement.ranksPerServer is another than the topology's.
LoadedJob job_on(const Topology& topology, const Arguments& arguments, const std::string& change, Say say);

}  // namespace atl
