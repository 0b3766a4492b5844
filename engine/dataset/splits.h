// Which vertices train, validate and test, while an importer collects it.
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

  /// Throws Error, which begins with `source`, if the vertex is out of range or in another part of this
  /// column.
  void mark(Index vertex, Index column, Split part, const std::string& source);
  /// (vertices, columns) masks: non-zero marks.
  void mark_all(std::span<const std::uint8_t> mask, Split part, const std::string& source);

  View<const std::uint8_t> view() const { return {values.data(), vertices, columns}; }
};

std::string_view to_string(Split part);

// A split for data that has none: --split random:60/20/20.

/// Each vertex is drawn by itself, from the seed and its original id: not per class, and who else is there
/// doesn't matter. Shares are met to chance.
struct DrawnSplit {
  double train = 0, validation = 0, test = 0;  // shares of the labelled vertices; the rest is in no part
  std::uint64_t seed = 0;

  Split part_of(std::int64_t id) const;
  /// "random:60/20/20, seed 1"
  std::string description() const;
};

/// "random:TRAIN/VALIDATION/TEST", percent that add up to 100 at most. Anything else is an Error that names
/// --split.
DrawnSplit parse_drawn_split(const std::string& text, std::uint64_t seed);

// An edge split for a graph that has none: --edge-split random:85/5/10. And which training edges carry no
// messages: --disjoint 30.

/// Each edge is drawn by itself, from the seed and its ends, whatever its direction; shares are met to
/// chance. To each validation and test edge belongs a negative pair, drawn among those that are no edges.
struct DrawnEdgeSplit {
  double train = 0, validation = 0, test = 0;  // shares of the edges; 1 together
  std::uint64_t seed = 0;

  PairSet part_of(const VertexPair& edge) const;
  /// "random:85/5/10, seed 1"
  std::string description() const;
};

/// "random:TRAIN/VALIDATION/TEST", percent that add up to 100. Anything else is an Error that names
/// --edge-split.
DrawnEdgeSplit parse_edge_split(const std::string& text, std::uint64_t seed);

/// Of arcs between `vertices` vertices. Where each has its reverse, or `undirected`, both are one edge. Loops
/// are no edges; duplicates are one. Throws Error, which begins with `name`, where a part that has a share
/// gets no edge, or there are too few pairs that are no edges.
struct DrawnEdges {
  EdgeSplit split;
  bool undirected = false;
};
DrawnEdges draw_edges(std::vector<VertexPair> arcs, Index vertices, bool undirected,
                      const DrawnEdgeSplit& drawn, const std::string& name);

/// Puts a share of the training edges first, those that are trained on and carry no messages, and returns
/// their number. Drawn as above.
Index put_supervision_first(std::vector<VertexPair>& training, double share, std::uint64_t seed);

}  // namespace atl
