// The graph that one server of several ranks holds under GraNNDis (Song et al. 2024, sections 4.1 and 4.3):
// its own vertices and copies of those that they depend on, so that only gradients travel between servers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

namespace atl {

struct ServerOptions {
  int first_part = 0, parts = 1;  // the prepared graph's parts that the server's ranks train
  int max_hop = 0;                // copies are at most this many hops from the server's own vertices
  int fanout = -1;  // a vertex requests at most this many neighbours on other servers; −1: all
  /// The first `layers` layers read the server's copies. Rows `layers` or more hops from the server's
  /// own vertices aren't computed.
  int layers = 0;
  // number of later layers, which compute only own vertices and read rows of ranks on any server
  int beyond = 0;
  /// Degrees count only the arcs that the server holds. False: degrees are the whole graph's, so that
  /// `layers` hops are exact.
  bool samples = true;
  std::uint64_t seed = 1, epoch = 0;  // of the draw
  bool redraws = false;               // whether each epoch has its own draw
  int batches = 1;                    // number of batches of the server's vertices (server_batches())
  VertexMarks induced_on = {};        // as in LocalizeOptions
  /// A batch: rows of the prepared graph that take the place of the server's own vertices, and are divided
  /// among the ranks as copies are. None: the server's own vertices.
  std::optional<std::span<const VertexId>> batch = {};
};

/// Rows of the server's ranks, rank by rank: first the own part's rows, then copies by distance. A row at
/// distance d from the server's own vertices is computed by (layers − d) layers only, so a layer's rows are
/// the first ones of each rank (NearBlock). Rows at distance `layers` are inputs and have no arcs.
struct ServerGraph {
  std::vector<Index> part_offsets;      // (ranks + 1)
  std::vector<Index> counted;           // (ranks) number of each rank's own vertices
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

/// Gives the same result on every rank of the server. Memory while it runs: the server's graph, and 32 bytes
/// and a hash table's two cells for each row that it holds or draws; nothing for other vertices.
ServerGraph server_graph(const PreparedGraph& prepared, const ServerOptions& options);

// A rank's arcs for each layer of GraNNDis. The more layers follow a layer, the farther from the server's own
// vertices are the rows that it computes. Rows are sorted by that distance, so that a layer's rows are always
// the first ones.

/// The arcs of the rows within one distance of the server's own vertices. Arcs between owned rows are the
/// first ones of LocalGraph::own and aren't copied. Their transpose (4 bytes per arc) and everything about
/// halo rows (8 bytes per arc to the halo) are stored here.
struct NearBlock {
  Index rows = 0, sources = 0;  // the rank's first `rows` are computed; they read its first `sources`
  Index own_arcs = 0;
  bool is_whole = false;       // the rows have all of the rank's arcs: use the LocalGraph's instead
  Csr own_transpose;           // (sources × rows)
  std::vector<VertexId> halo;  // the halo rows of the LocalGraph that are read, ascending
  Csr outer, outer_transpose;  // (rows × halo), (halo × rows)
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
  std::vector<VertexId> halo_ids;         // (halo) the data set's vertex ids
  std::vector<Real> halo_scale;           // (halo) by the normalisation asked for; empty: all 1
  std::vector<PeerRows> peers;            // only those with rows to exchange

  /// Bytes of its arrays.
  Index bytes() const;
};

/// A rank's share of what its server holds.
struct RankShare {
  std::unique_ptr<LocalGraph> graph;
  /// Entry d, for d = 0 … layers − 1, has the rows that a layer with d layers after it computes.
  std::vector<NearBlock> near;
};

/// A run trains on the share, and a plan measures it. `options` are those that `held` was made with;
/// normalisation and attention: as in LocalizeOptions.
RankShare rank_share(const ServerGraph& held, const ServerOptions& options, Rank rank,
                     Normalisation normalisation, bool attention);

/// Destinations: the near rows; sources: own rows (own), or the halo rows that they read (outer). Views into
/// `graph` and `near`.
Block own_block(const LocalGraph& graph, const NearBlock& near);
Block outer_block(const LocalGraph& graph, const NearBlock& near);

// Cooperative batching (Song et al. 2024, "GraNNDis", section 4.4): a server's own vertices are divided into
// batches. Each batch is trained with the vertices that it depends on, just as all own vertices are if there
// is one batch.

/// The server's own vertices of each batch, as rows of the prepared graph. Neighbours are together, and
/// batches have equal shares of the vertices that `trains` marks (vertices of the data set). The result
/// doesn't depend on the number of ranks of the server. Memory: the arcs among own vertices, twice, and 4
/// bytes per row of the server's parts.
std::vector<std::vector<VertexId>> server_batches(const PreparedGraph& prepared, const ServerOptions& options,
                                                  const VertexMarks& trains, int batches);

/// The error for `batches` batches where no server has more than `most` training vertices.
std::string too_many_batches(const std::string& strategy, Index batches, Index most);

/// The graph that a server holds for each batch; a single one without batches.
std::vector<ServerGraph> server_graphs(const PreparedGraph& prepared, const ServerOptions& options,
                                       const VertexMarks& trains);

}  // namespace atl
