// A manifest's job on the servers that a topology describes, under another strategy than its own if need be.
#pragma once

#include <string>

#include "command/job_data.h"
#include "simulate/topology.h"

namespace atl {

/// On as many ranks as the topology has, whatever the manifest says, and with its servers where the manifest doesn't say: strategies cut the graph
/// by them. `change`: as of --set; "": none. Throws Error where the manifest's placement.ranksPerServer is another than the topology's.
LoadedJob job_on(const Topology& topology, const Arguments& arguments, const std::string& change, Say say);

}  // namespace atl
