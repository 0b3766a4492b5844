// The arcs of a prepared graph from some ranks' rows to other ranks' rows, one block per source rank. For
// strategies that receive rows owner by owner (CAGNET's broadcasts) and aggregate each owner's share as it
// comes.
#pragma once

#include <span>
#include <vector>

#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

namespace atl {

/// For a strategy that receives rows owner by owner: whose rows a rank reads, and for whose vertices it
/// aggregates them.
struct OwnerReads {
  std::vector<Rank> aggregates;  // ranks; the rank itself among them
  std::vector<Rank> sources;     // ranks, in the order in which their rows come
  /// Own rows then arrive like those of other ranks.
  bool for_others() const { return aggregates.size() > 1; }
};

/// The arcs from one owner's rows. Memory: the arcs, an offset per destination, and the ids of the owner's
/// rows that are read here.
struct SourceBlock {
  Rank owner = 0;
  std::vector<VertexId> rows;  // (src) which of the owner's rows, in its own numbering, ascending
  std::vector<VertexId> ids;   // (src) the data set's vertex ids
  std::vector<Real> scale;     // (src) by the normalisation asked for; empty: all 1
  Csr arcs;                    // (dst × src)
  Csr transpose;               // (src × dst)
  std::vector<Index> arc;      // places of transposed arcs; filled where attention needs them
};

/// Owns its arrays, and must not move while blocks, which are views into it, are in use.
struct SourceBlocks {
  std::vector<VertexId> ids;        // (dst) the destination ranks' rows, one rank after the other
  std::vector<Real> scale;          // (dst) likewise
  std::vector<SourceBlock> blocks;  // only owners whose rows are read, in the order of `sources`

  Block view(const SourceBlock& block) const;
};

/// `options` as for localize().
SourceBlocks source_blocks(const PreparedGraph& graph, const LocalizeOptions& options,
                           std::span<const Rank> destinations, std::span<const Rank> sources);

/// Returns (ranks) how many rows each rank owns: of the whole graph or, in inductive training, only marked
/// vertices.
std::vector<Index> rows_by_rank(const PreparedGraph& graph, const LocalizeOptions& options);

}  // namespace atl
