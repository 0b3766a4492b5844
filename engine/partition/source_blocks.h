// Arcs of a prepared graph from some ranks' rows to some other ranks' rows, a block for each rank that they
// come from: what strategies need to which rows come owner by owner (CAGNET's broadcasts), each followed by
// its share of the aggregation.
#pragma once

#include <span>
#include <vector>

#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

namespace atl {

/// Whose rows a rank reads, where a strategy takes them owner by owner, and for whose vertices it aggregates
/// them.
struct OwnerReads {
  std::vector<Rank> aggregates;  // ranks; the rank itself among them
  std::vector<Rank> sources;     // ranks, in the order in which their rows come
  /// Own rows then come as other ranks' do.
  bool for_others() const { return aggregates.size() > 1; }
};

/// The arcs from one owner's rows. Memory: the arcs, a place for each destination, and what is read of the
/// owner; nothing for rows of the owner that nobody reads here.
struct SourceBlock {
  Rank owner = 0;
  std::vector<VertexId> rows;  // (src) which of the owner's rows, in its own numbering, ascending
  std::vector<VertexId> ids;   // (src) the data set's
  std::vector<Real> scale;     // (src) by the normalisation asked for; empty: all 1
  Csr arcs;                    // (dst × src)
  Csr transpose;               // (src × dst)
  std::vector<Index> arc;      // places of transposed arcs; filled where attention needs them
};

/// Holds its arrays; must not move while blocks, views into it, live.
struct SourceBlocks {
  std::vector<VertexId> ids;        // (dst) the destination ranks' rows, one rank after the other
  std::vector<Real> scale;          // (dst) likewise
  std::vector<SourceBlock> blocks;  // of owners with rows that are read, in the order of `sources`

  Block view(const SourceBlock& block) const;
};

/// `options` as for localize().
SourceBlocks source_blocks(const PreparedGraph& graph, const LocalizeOptions& options,
                           std::span<const Rank> destinations, std::span<const Rank> sources);

/// (ranks) how many rows each owns: of the whole graph or, in inductive training, of the marked vertices.
std::vector<Index> rows_by_rank(const PreparedGraph& graph, const LocalizeOptions& options);

}  // namespace atl
