// Which vertices train, validate and test, as an importer collects it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/edge_split.h"

namespace atl {

/// (vertices, columns) values of Split: a column is one of several draws of the same kind of split.
struct SplitTable {
  Index vertices = 0, columns = 1;
  std::vector<std::uint8_t> values;

  SplitTable(Index vertices_, Index columns_)
      : vertices(vertices_), columns(columns_), values(std::size_t(vertices_ * columns_)) {}

  /// Throws Error, which begins with `source`, if the vertex is out of range, or is in another part in this
  /// column.
  void mark(Index vertex, Index column, Split part, const std::string& source);
  /// Marks the vertices whose value in the masks (vertices, columns) is non-zero.
  void mark_all(std::span<const std::uint8_t> mask, Split part, const std::string& source);

  View<const std::uint8_t> view() const { return {values.data(), vertices, columns}; }
};

std::string_view to_string(Split part);

// A split for data without one: --split random:60/20/20.

/// Each vertex's part is drawn from the seed and its original id alone, independently of its class and of
/// other vertices, so shares are met only approximately.
struct DrawnSplit {
  double train = 0, validation = 0, test = 0;  // shares of the labelled vertices; the rest is in no part
  std::uint64_t seed = 0;

  Split part_of(std::int64_t id) const;
  /// Returns "random:60/20/20, seed 1".
  std::string description() const;
};

/// Reads "random:TRAIN/VALIDATION/TEST", percentages that add up to 100 at most. Anything else is an Error
/// that names --split.
DrawnSplit parse_drawn_split(const std::string& text, std::uint64_t seed);

// An edge split for a graph without one, --edge-split random:85/5/10, and the choice of training edges that
// carry no messages, --disjoint 30.

/// Each edge's set is drawn from the seed and its ends alone, whatever its direction, so shares are met only
/// approximately. Each validation and test edge gets a negative pair, drawn among the pairs that are no
/// edges.
struct DrawnEdgeSplit {
  double train = 0, validation = 0, test = 0;  // shares of the edges; 1 together
  std::uint64_t seed = 0;

  PairSet part_of(const VertexPair& edge) const;
  /// Returns "random:85/5/10, seed 1".
  std::string description() const;
};

/// Reads "random:TRAIN/VALIDATION/TEST", percentages that add up to 100. Anything else is an Error that names
/// --edge-split.
DrawnEdgeSplit parse_edge_split(const std::string& text, std::uint64_t seed);

/// Splits arcs between `vertices` vertices. An arc and its reverse are one edge if every arc has its reverse,
/// or if `undirected`. Loops are no edges, and duplicates count once. Throws Error, which begins with `name`,
/// if a set with a share gets no edge, or too few pairs are no edges.
struct DrawnEdges {
  EdgeSplit split;
  bool undirected = false;
};
DrawnEdges draw_edges(std::vector<VertexPair> arcs, Index vertices, bool undirected,
                      const DrawnEdgeSplit& drawn, const std::string& name);

/// Draws a share of the training edges, in the same way, to be supervised and carry no messages. Puts them
/// first and returns their number.
Index put_supervision_first(std::vector<VertexPair>& training, double share, std::uint64_t seed);

}  // namespace atl
