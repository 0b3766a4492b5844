// A rank's arcs for each layer of GraNNDis. The more layers follow a layer, the farther from the server's own
// vertices are the rows that it computes. Rows are sorted by that distance, so that a layer's rows are always
// the first ones.
#pragma once

#include <vector>

#include "partition/local_graph.h"
#include "partition/server_graph.h"

namespace atl {

/// The arcs of the rows within one distance of the server's own vertices. Arcs between owned rows are the
/// first ones of LocalGraph::own and aren't copied. Their transpose (4 bytes per arc) and everything about
/// halo rows (8 bytes per arc to the halo) are stored here.
struct NearBlock {
  Index rows = 0, sources = 0;  // the rank's first `rows` are computed; they read its first `sources`
  Index own_arcs = 0;
  bool is_whole = false;       // the rows have all of the rank's arcs: use the LocalGraph's instead
  Csr own_transpose;           // (sources × rows)
  std::vector<VertexId> halo;  // the halo rows of the LocalGraph that are read, ascending
  Csr outer, outer_transpose;  // (rows × halo) and back
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
  std::vector<VertexId> halo_ids;         // (halo) the data set's vertex ids
  std::vector<Real> halo_scale;           // (halo) by the normalisation asked for; empty: all 1
  std::vector<PeerRows> peers;            // only those with rows to exchange
};

/// Entry d, for d = 0 … layers − 1, has the rows that a layer with d layers after it computes. `attention`:
/// as in LocalizeOptions.
std::vector<NearBlock> near_blocks(const ServerGraph& server, const LocalGraph& graph, int layers,
                                   bool attention);

/// Destinations: the near rows; sources: own rows (own), or the halo rows that they read (outer). Views into
/// `graph` and `near`.
Block own_block(const LocalGraph& graph, const NearBlock& near);
Block outer_block(const LocalGraph& graph, const NearBlock& near);

}  // namespace atl
