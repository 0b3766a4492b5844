// Parts in slices: a part's vertices divided once more, so that a rank works on one slice after the other (the chunks of a pipeline,
// Chen et al. 2023, "GNNPipe", section 3.2). Slice k of all parts together is chunk k.
#pragma once

#include <span>
#include <vector>

#include "partition/partitioners.h"

namespace atl {

/// (vertices) the cell of each vertex, its part · options.slices + its slice. A partitioner that looks at arcs divides the graph into
/// parts and then each part into slices, so that as little as possible leaves a part; the others divide it into all cells at
/// once. By hash a vertex's chunk is then the same for any number of parts.
std::vector<std::int32_t> assign_cells(const PartitionInput& input, const PartitionOptions& options);

}  // namespace atl
