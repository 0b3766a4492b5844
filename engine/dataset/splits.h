// The split of vertices or edges into training, validation and test, as an importer collects it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

// The edges that link prediction trains, validates and tests on, and the negative pairs that it is measured
// against, as an importer collects them.

/// A pair of vertices: source, destination.
using VertexPair = std::array<VertexId, 2>;

struct EdgeSplit {
  std::array<std::vector<VertexPair>, kPairSets> pairs;  // by PairSet
  std::vector<VertexPair>& of(PairSet set) { return pairs[std::size_t(set)]; }
  const std::vector<VertexPair>& of(PairSet set) const { return pairs[std::size_t(set)]; }
};

/// What check_edge_split() left out.
struct LeftOut {
  Index again = 0;     // training edges that occurred before in the other direction
  Index held_out = 0;  // training edges that are the reverse of a validation or test edge
  Index measured = 0;  // validation and test edges that occurred before in the other direction, in either set
  Index negatives = 0;  // negative pairs whose reverse is an edge or occurred before
  Index all() const { return again + held_out + measured + negatives; }
};

/// Throws Error, which begins with `source`, if an id isn't below `vertices`, a pair is twice in its set or
/// in two sets, an edge joins a vertex to itself, or there is nothing to train on. If edges have no direction
/// (`undirected`), an edge and its reverse are the same edge. If a pair is there in both directions, one of
/// the two is kept: that in the first of these sets: test edges, validation edges, training edges, test's
/// negative pairs, validation's. If both are in one set, the one whose source has the smaller id is kept.
LeftOut check_edge_split(EdgeSplit& split, Index vertices, bool undirected, const std::string& source);

/// Returns "validation edges (val_pos)", with the name of the set's array in edge_split.npz.
const char* to_string(PairSet set);

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

// Whether a graph is bipartite, and how many of its negative pairs could never be edges.

/// The two sides of a bipartite graph, whose edges all cross.
struct TwoSides {
  Index first = 0,
        second = 0;             // vertices with edges; the first side has the smallest id of each component
  Index pairs = 0, within = 0;  // negative pairs, and those with both ends on one side
};

/// Nothing if an edge joins vertices of one side, or there are fewer edges than vertices with edges. A graph
/// with so few edges, such as a tree, has two sides by chance, not because its vertices are of two kinds.
std::optional<TwoSides> two_sides(const EdgeSplit& split, Index vertices);

}  // namespace atl
