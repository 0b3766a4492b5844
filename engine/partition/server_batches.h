// Cooperative batching (Song et al. 2024, "GraNNDis", section 4.4): a server's own vertices in batches, each
// of which is trained with what it depends on, as a server's vertices are where there is one batch.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "partition/server_graph.h"

namespace atl {

/// Rows of the prepared graph: of each batch the server's own vertices, neighbours together, with equal
/// shares of the vertices that `trains` marks (vertices of the data set). The same however many ranks the
/// server has, each time. Memory: the arcs among own vertices, twice, and 4 bytes for each vertex of the
/// graph.
std::vector<std::vector<VertexId>> server_batches(const PreparedGraph& prepared, const ServerOptions& options,
                                                  std::span<const std::uint8_t> trains, int batches);

/// Why so many batches are refused where no server has more than `most` training vertices.
std::string too_many_batches(const std::string& strategy, Index batches, Index most);

/// Of what a server holds at a time, the graphs, batch by batch: one, where it has no batches.
std::vector<ServerGraph> server_graphs(const PreparedGraph& prepared, const ServerOptions& options,
                                       std::span<const std::uint8_t> trains);

}  // namespace atl
