// Records a job's ranks on this machine, for `atoll simulate` and `atoll plan --topology`.
#pragma once

#include <string>

#include "command/job_data.h"
#include "simulate/record.h"
#include "simulate/topology.h"

namespace atl {

/// Throws Error where the job's strategy can't be recorded in this way.
void check_recordable(const Job& job, const RecordOptions& how);

/// Fills in `how`: the ranks' servers, and the parts that they train. Throws Error where the topology has
/// another number of ranks, this machine hasn't the memory of all, or the strategy can't be recorded.
Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, RecordOptions how, Say say);

// A manifest's job on the servers of a topology, under another strategy if need be.

/// The job with as many ranks as the topology has, whatever the manifest says. Where the manifest says
/// nothing of servers it gets the topology's, because strategies cut the graph by servers. `change`: as for
/// --set; "": none. Throws Error where the manifest's placement.ranksPerServer differs from the topology's.
LoadedJob job_on(const Topology& topology, const Arguments& arguments, const std::string& change, Say say);

}  // namespace atl
