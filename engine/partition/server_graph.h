// The graph that one server of several ranks holds under GraNNDis (Song et al. 2024, sections 4.1 and 4.3):
// its own vertices and copies of those that they depend on, so that only gradients travel between servers.
#pragma once

#include <optional>
#include <vector>

#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

namespace atl {

struct ServerOptions {
  int first_part = 0, parts = 1;  // the prepared graph's parts that the server's ranks train
  int max_hop = 0;                // how many hops from its own vertices it takes copies
  int fanout = -1;  // most copies that a vertex requests of its neighbours on other servers; −1: all
  /// How many layers, the first ones, read the server's copies. Rows `layers` or more hops from its own
  /// vertices aren't computed.
  int layers = 0;
  // later layers, which compute own vertices only and read the rows of other ranks on any server
  int beyond = 0;
  /// Degrees count only the arcs that the server holds. False: degrees are the whole graph's, so that
  /// `layers` hops are exact.
  bool samples = true;
  std::uint64_t seed = 1, epoch = 0;  // of the draw …
  bool redraws = false;               // … and whether each epoch has its own
  int batches = 1;                    // number of batches of the server's vertices (server_batches.h)
  std::span<const std::uint8_t> induced_on = {};  // as in LocalizeOptions
  /// A batch: rows of the prepared graph that stand for all its own vertices, and are divided among the ranks
  /// as copies are. None: all own vertices.
  std::optional<std::span<const VertexId>> batch = {};
};

/// Rows of the server's ranks, rank by rank: first the own part's rows, then copies by distance. A row at
/// distance d from the server's own vertices is computed by (layers − d) layers only, so a layer's rows are
/// the first ones of each rank (near_blocks.h). Rows at distance `layers` are inputs and have no arcs.
struct ServerGraph {
  std::vector<Index> part_offsets;      // (ranks + 1)
  std::vector<Index> counted;           // (ranks) own vertices of each
  std::vector<VertexId> ids;            // (rows) the data set's vertex ids
  std::vector<std::int32_t> distances;  // (rows) from the server's own vertices, along arcs that are read
  Csr graph;                            // (rows × rows)
  std::vector<std::vector<VertexId>> halos;  // (ranks)
  // (ranks) for each row of a halo, the distance of the nearest row that reads it
  std::vector<std::vector<std::int32_t>> near;
  std::vector<double> degrees;  // (rows)

  PartedGraph view() const;
  Index bytes() const;
};

/// Gives the same result on every rank of the server. Memory while it runs: the server's graph, and 16 bytes
/// per vertex of the graph.
ServerGraph server_graph(const PreparedGraph& prepared, const ServerOptions& options);

}  // namespace atl
