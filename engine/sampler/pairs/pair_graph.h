// What a rank knows of the pairs that link prediction trains on. A pair belongs to the rank that owns its
// source. That rank knows the training edges from its vertices, and the vertices at their other ends. Nothing
// that it holds grows with the whole graph: it looks up a vertex's row, or a row's vertex, in the prepared
// graph's mapped files.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/reusable.h"
#include "dataset/dataset.h"
#include "partition/prepared_graph.h"
#include "sampler/owners.h"
#include "sampler/seeds.h"

namespace atl {

/// Two prepared rows.
struct RowPair {
  VertexId source = 0, destination = 0;
};

/// Throws Error if `rank` has more supervised edges of its own than 32-bit numbers can name, as a step names
/// its edges by such numbers. `all`: the number of supervised edges over all ranks.
void check_own_edges(Index own, Index all, Rank rank);

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

// The pairs of vertices in a rank's share of a step's loss: training edges, and negative pairs drawn for
// them.

struct StepPairs {
  Reusable<VertexId> sources,
      destinations;  // (pairs) prepared rows of any owner: first the edges, then the negative pairs
  Index edges = 0;   // how many of the pairs are edges
  double total = 0;  // pairs of the step over all ranks, by which the loss is divided

  Index size() const { return sources.size(); }
  void clear() { sources.take(0), destinations.take(0), edges = 0; }
  void reserve(Index pairs) { sources.reserve(pairs), destinations.reserve(pairs); }
  void add(VertexId source, VertexId destination) { sources.push(source), destinations.push(destination); }
  Index reallocations() const { return sources.reallocations() + destinations.reallocations(); }
};

/// How many ends collect_ends() gathers before it sorts them.
inline constexpr Index kUnsortedEnds = Index(1) << 17;

/// Collects the ends for which is_wanted(row), ascending, each once. Never holds more than twice their
/// number, or kUnsortedEnds if that is more.
template <class IsWanted>
void collect_ends(const StepPairs& pairs, const IsWanted& is_wanted, std::vector<VertexId>& ends) {
  const auto sort_once = [&] {
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
  };
  ends.clear();
  auto most = std::size_t(std::min(kUnsortedEnds, 2 * pairs.size()));
  ends.reserve(most);
  for (const auto& side : {pairs.sources.span(), pairs.destinations.span()})
    for (const VertexId row : side) {
      if (!is_wanted(row)) continue;
      if (ends.size() == most) sort_once(), most = std::max(most, 2 * ends.size());
      ends.push_back(row);
    }
  sort_once();
}

}  // namespace atl
