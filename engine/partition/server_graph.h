// What one server of several ranks holds under GraNNDis (Song et al. 2024, sections 4.1 and 4.3): its own
// vertices and copies of those that they depend on, so that nothing but gradients goes from server to server.
#pragma once

#include <optional>
#include <vector>

#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

namespace atl {

struct ServerOptions {
  int first_part = 0, parts = 1;  // of the prepared graph: those of the server's ranks
  int max_hop = 0;                // how far from its own vertices it takes copies
  int fanout = -1;  // copies that a vertex asks for at most, of neighbours on other servers; −1: all
  /// Layers that read the server's copies, the first ones: of what is farther from its own vertices nothing
  /// is computed.
  int layers = 0;
  // layers behind them, which compute own vertices and read other ranks' rows, wherever those are
  int beyond = 0;
  /// Degrees are those of what is there. False: they are the whole graph's, so that `layers` hops are exact.
  bool samples = true;
  std::uint64_t seed = 1, epoch = 0;              // of the draw …
  bool redraws = false;                           // … and whether each epoch has its own
  int batches = 1;                                // that its vertices are divided into (server_batches.h)
  std::span<const std::uint8_t> induced_on = {};  // as in LocalizeOptions
  /// Rows of the prepared graph that take its own vertices' place: a batch of them, divided over the ranks as
  /// copies are. None: all.
  std::optional<std::span<const VertexId>> batch = {};
};

/// Rows: rank by rank of the server its own part's, then copies by distance. A row at distance d from the
/// server's own vertices is computed by layers − d layers alone, so that a layer's rows are the first ones of
/// each rank (near_blocks.h). Those at distance `layers` are inputs, and have no arcs.
struct ServerGraph {
  std::vector<Index> part_offsets;      // (ranks + 1)
  std::vector<Index> counted;           // (ranks) own vertices of each
  std::vector<VertexId> ids;            // (rows) the data set's
  std::vector<std::int32_t> distances;  // (rows) from the server's own vertices, along arcs that are read
  Csr graph;                            // (rows × rows)
  std::vector<std::vector<VertexId>> halos;  // (ranks)
  // (ranks) of each row of a halo, the distance of the nearest row that reads it
  std::vector<std::vector<std::int32_t>> near;
  std::vector<double> degrees;  // (rows)

  PartedGraph view() const;
  Index bytes() const;
};

/// The same on every rank of the server. Memory meanwhile: what the server holds, and 16 bytes for each
/// vertex of the graph.
ServerGraph server_graph(const PreparedGraph& prepared, const ServerOptions& options);

}  // namespace atl
