// Checks whether each edge of an undirected graph is listed at both of its ends, in memory that doesn't grow
// with the graph. Edges are dealt into groups by their ends. A group has two sums of fingerprints, from the
// smaller ends and from the larger. They are equal exactly if the group's edges are paired, but for an
// accident of probability 2⁻⁶⁴. If they differ, the edges of that one group are enough to find one that isn't
// paired.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace atl {

class PairedEnds {
 public:
  struct End {
    VertexId from = 0, to = 0;
    Index weight = 1;
    Index line = 0;  // line of the file
  };

  PairedEnds() : groups_(kGroups) {}
  /// from ≠ to.
  void add(const End& end);

  bool are_paired() const;
  /// Call if not all ends are paired: whether this edge is in the group that find_lone() needs.
  bool is_suspect(VertexId from, VertexId to) const;
  /// The unpaired end among the suspects; the first by edge if there are several.
  static End find_lone(std::vector<End> suspects);

 private:
  static constexpr std::size_t kGroups = 4096;
  struct Group {
    std::uint64_t from_smaller = 0, from_larger = 0;  // sums of fingerprints
  };
  std::size_t first_unpaired() const;

  std::vector<Group> groups_;
};

}  // namespace atl
