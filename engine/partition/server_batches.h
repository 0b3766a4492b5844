// Cooperative batching (Song et al. 2024, "GraNNDis", section 4.4): a server's own vertices are divided into
// batches. Each batch is trained with the vertices that it depends on, just as all vertices are where there
// is one batch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "partition/server_graph.h"

namespace atl {

/// The server's own vertices of each batch, as rows of the prepared graph. Neighbours are together, and
/// batches have equal shares of the vertices that `trains` marks (vertices of the data set). The result
/// doesn't depend on the number of ranks of the server. Memory: the arcs among own vertices, twice, and 4
/// bytes per vertex of the graph.
std::vector<std::vector<VertexId>> server_batches(const PreparedGraph& prepared, const ServerOptions& options,
                                                  std::span<const std::uint8_t> trains, int batches);

/// The error for `batches` batches where no server has more than `most` training vertices.
std::string too_many_batches(const std::string& strategy, Index batches, Index most);

/// The graph that a server holds for each batch; a single one without batches.
std::vector<ServerGraph> server_graphs(const PreparedGraph& prepared, const ServerOptions& options,
                                       std::span<const std::uint8_t> trains);

}  // namespace atl
