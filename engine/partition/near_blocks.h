// Under GraNNDis a layer computes the rows that are near enough to a server's own vertices for the layers
// behind it: here are a rank's arcs by the distance of the rows that read them. Rows lie by distance, so that
// those at most so far come first.
#pragma once

#include <vector>

#include "partition/local_graph.h"
#include "partition/server_graph.h"

namespace atl {

/// Of the rows at most so far from the server's own vertices. Arcs of own rows to own ones are the
/// LocalGraph's first ones; their transpose, and what has to do with halo rows, are stored again: 4 bytes an
/// arc, and 8 an arc to the halo.
struct NearBlock {
  Index rows = 0, sources = 0;  // the rank's first so many are computed, and read the first so many
  Index own_arcs = 0;
  bool is_whole = false;       // they have all arcs that the rank has: what follows is the LocalGraph's
  Csr own_transpose;           // (sources × rows)
  std::vector<VertexId> halo;  // of the LocalGraph's halo rows those that are read, ascending
  Csr outer, outer_transpose;  // (rows × halo) and back
  std::vector<Index> own_arc, outer_arc;  // places of transposed arcs; filled where attention needs them
  std::vector<VertexId> halo_ids;         // (halo) the data set's
  std::vector<Real> halo_scale;           // (halo) by the normalisation asked for; empty: all 1
  std::vector<PeerRows> peers;            // with anything to exchange
};

/// By distance, 0 … layers − 1: of the rows that are computed by a layer with so many layers behind it.
/// `attention`: as in LocalizeOptions.
std::vector<NearBlock> near_blocks(const ServerGraph& server, const LocalGraph& graph, int layers,
                                   bool attention);

/// Destinations: the near rows; sources: own rows, or the halo rows that they read. Views into both.
Block own_block(const LocalGraph& graph, const NearBlock& near);
Block outer_block(const LocalGraph& graph, const NearBlock& near);

}  // namespace atl
