// atoll partition: prepares a data set's graph for a number of ranks ahead of a run, and prints how good the
// parts are.
#pragma once

#include <string>
#include <vector>

#include "command/command_line.h"
#include "dataset/dataset.h"
#include "partition/prepared_graph.h"

namespace atl {

// A data set's graph, prepared for a number of ranks as a run would do it, without a manifest.

/// The arguments of partition_graph() except --parts, for a command's table.
std::vector<Argument> partition_arguments();

struct PartitionedGraph {
  PartitionOptions options;
  PreparedGraph graph;
};

/// Opens the prepared graph for `parts` ranks, or makes it. Without splits there are no training vertices to
/// balance. Throws Error where an argument isn't allowed.
PartitionedGraph partition_graph(const Dataset& dataset, int parts, const Arguments& arguments);

}  // namespace atl
