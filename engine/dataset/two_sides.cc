#include "dataset/two_sides.h"

#include <algorithm>
#include <vector>

namespace atl {
namespace {

constexpr VertexId kAlone = -1;  // no edge yet

/// Sets of joined vertices, each with a root, which is its smallest vertex (Tarjan 1975), and whether each vertex is on its
/// root's side.
class Sides {
 public:
  explicit Sides(Index vertices)
      : parent_(std::size_t(vertices), kAlone), across_(std::size_t(vertices), std::uint8_t(0)) {}

  /// False where the edge joins vertices of one side.
  bool join(const VertexPair& edge) {
    for (const VertexId v : edge)
      if (is_alone(v)) parent_[std::size_t(v)] = v;
    const VertexId a = root_of(edge[0]), b = root_of(edge[1]);
    const std::uint8_t side_a = across_[std::size_t(edge[0])], side_b = across_[std::size_t(edge[1])];
    if (a == b) return side_a != side_b;
    const auto [low, high] = std::minmax(a, b);
    parent_[std::size_t(high)] = low;
    across_[std::size_t(high)] = std::uint8_t(side_a ^ side_b ^ 1);
    return true;
  }
  bool is_alone(VertexId v) const { return parent_[std::size_t(v)] == kAlone; }
  /// 0: its root's.
  int side_of(VertexId v) {
    root_of(v);
    return across_[std::size_t(v)];
  }

 private:
  /// Afterwards the vertex' parent is the root, and so for all on the way.
  VertexId root_of(VertexId v) {
    VertexId root = v;
    std::uint8_t across = 0;  // from v to the root
    while (parent_[std::size_t(root)] != root) {
      across ^= across_[std::size_t(root)];
      root = parent_[std::size_t(root)];
    }
    while (parent_[std::size_t(v)] != root && v != root) {
      const VertexId next = parent_[std::size_t(v)];
      const std::uint8_t step = across_[std::size_t(v)];
      parent_[std::size_t(v)] = root;
      across_[std::size_t(v)] = across;
      across ^= step;
      v = next;
    }
    return root;
  }

  std::vector<VertexId> parent_;
  std::vector<std::uint8_t> across_;  // 1: on the other side than its parent
};

}  // namespace

std::optional<TwoSides> two_sides(const EdgeSplit& split, Index vertices) {
  Sides sides(vertices);
  Index edges = 0;
  for (const PairSet set : {PairSet::kTrain, PairSet::kValidation, PairSet::kTest})
    for (const VertexPair& edge : split.of(set)) {
      if (!sides.join(edge)) return {};
      ++edges;
    }
  TwoSides found;
  for (VertexId v = 0; v < vertices; ++v)
    if (!sides.is_alone(v)) ++(sides.side_of(v) == 0 ? found.first : found.second);
  if (edges < found.first + found.second) return {};
  for (const PairSet set : {PairSet::kValidationNegative, PairSet::kTestNegative})
    for (const VertexPair& pair : split.of(set)) {
      const bool has_edges = !sides.is_alone(pair[0]) && !sides.is_alone(pair[1]);
      ++found.pairs;
      found.within += has_edges && sides.side_of(pair[0]) == sides.side_of(pair[1]);
    }
  return found;
}

}  // namespace atl
