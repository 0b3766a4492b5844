// What a rank knows of the pairs that link prediction trains on. A pair belongs to the rank that owns its
// source. That rank knows the training edges from its vertices, and the vertices at their other ends. Nothing
// that it holds grows with the whole graph: it looks up a vertex's row, or a row's vertex, in the prepared
// graph's mapped files.
#pragma once

#include <span>
#include <vector>

#include "dataset/dataset.h"
#include "partition/prepared_graph.h"
#include "sampler/owners.h"
#include "sampler/seeds.h"

namespace atl {

/// Two prepared rows.
struct RowPair {
  VertexId source = 0, destination = 0;
};

class PairGraph {
 public:
  /// row_of (vertices): the prepared row of each vertex; ids (vertices): the vertex of each row. Both, and
  /// the data set, outlive it. Reads the training edges four times and keeps the rank's own.
  PairGraph(const Dataset& dataset, std::span<const VertexId> row_of, std::span<const VertexId> ids,
            std::span<const Index> part_offsets, Owners owners, Rank rank);

  const Owners& owners() const { return owners_; }
  Rank rank() const { return rank_; }
  Index vertices() const { return Index(ids_.size()); }
  VertexId row_of(VertexId vertex) const { return row_of_[std::size_t(vertex)]; }
  VertexId id_of(VertexId row) const { return ids_[std::size_t(row)]; }

  /// Own supervised edges, part by part, within each part in the data set's order.
  const std::vector<RowPair>& edges() const { return edges_; }
  /// The edges' numbers by part, for drawing seeds; and the number of edges in each part of all ranks.
  TrainingRows numbers() const;
  const std::vector<Index>& edges_by_part() const { return edges_by_part_; }
  /// The number of edges over all ranks.
  Index all_edges() const { return all_edges_; }
  /// Whether any training edge, supervised or not, goes from an own row to this vertex, or back if edges have
  /// no direction.
  bool is_known(VertexId own_row, VertexId vertex) const;
  /// Memory that it holds, for plans.
  Index bytes() const;

 private:
  void read_edges(View<const VertexId> pairs, Index supervised, std::span<const Index> part_offsets);
  void read_partners(View<const VertexId> pairs, bool undirected);

  std::span<const VertexId> row_of_, ids_;
  Owners owners_;
  Rank rank_;
  std::vector<RowPair> edges_;
  std::vector<Index> edges_by_part_;
  Index all_edges_ = 0;
  std::vector<Index> partner_begin_;  // (own rows + 1)
  std::vector<VertexId> partners_;    // vertices, ascending for each row
};

}  // namespace atl
