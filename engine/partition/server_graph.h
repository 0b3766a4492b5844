// What one server of several ranks holds under GraNNDis (Song et al. 2024, sections 4.1 and 4.3): its own vertices and copies of those
// that they depend on, so that nothing but gradients goes from server to server.
#pragma once

#include <optional>
#include <vector>

#include "partition/parted_graph.h"

namespace atl {

struct ServerOptions {
  int first_part = 0, parts = 1;  // of the prepared graph: those of the server's ranks
  int hops = 0;                   // how far from its own vertices it takes copies
  int fanout = -1;  // copies that a vertex asks for at most, of neighbours on other servers; −1: all
  /// Copies are computed from what is there of their neighbours, in every layer. False: those of the last hop are read alone, and
  /// degrees are the whole graph's, so that `hops` layers are exact.
  bool samples = true;
  std::uint64_t seed = 1;
  std::span<const std::uint8_t> induced_on = {};  // as in LocalizeOptions
};

/// Rows: rank by rank of the server its own part's, then copies by hop.
struct ServerGraph {
  std::vector<Index> part_offsets;           // (ranks + 1)
  std::vector<Index> counted;                // (ranks) own vertices of each
  std::vector<VertexId> ids;                 // (rows) the data set's
  std::vector<std::int32_t> hops;            // (rows) from the server's own vertices
  Csr graph;                                 // (rows × rows)
  std::vector<std::vector<VertexId>> halos;  // (ranks)
  std::vector<double> degrees;               // (rows)

  PartedGraph view() const;
};

/// The same on every rank of the server. Memory meanwhile: what the server holds, and 8 bytes for each vertex of the graph.
ServerGraph server_graph(const PreparedGraph& prepared, const ServerOptions& options);

}  // namespace atl
