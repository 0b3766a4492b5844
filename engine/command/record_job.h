// Records a job's ranks on this machine, for `atoll simulate` and `atoll plan --topology`.
#pragma once

#include <string>

#include "command/job_data.h"
#include "simulate/record.h"
#include "simulate/topology.h"

namespace atl {

/// Throws Error where the job's strategy can't be recorded in this way.
void check_recordable(const Job& job, const RecordOptions& how);

/// Records the job. Fills in the servers of `how` and the parts that ranks train. Throws Error if the
/// topology has another number of ranks, if this machine lacks the memory, or if the strategy can't be
/// recorded.
Recording record_here(const LoadedJob& loaded, const Dataset& dataset, const PreparedGraph& prepared,
                      const Topology& topology, RecordOptions how, Say say);

// Puts a manifest's job on the servers of a topology, under another strategy if need be.

/// The job with as many ranks as the topology has, whatever the manifest says. A manifest that says nothing
/// about servers gets the topology's, because strategies cut the graph by servers. `change`: as for --set;
/// "": none. Throws Error if the manifest's placement.ranksPerServer differs from the topology's.
LoadedJob job_on(const Topology& topology, const Arguments& arguments, const std::string& change, Say say);

}  // namespace atl
