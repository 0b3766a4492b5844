// Whether each edge of an undirected graph stands at both of its ends, in memory that doesn't grow with the
// graph: edges are dealt into groups by their ends, and a group's sums of fingerprints, from the smaller ends
// and from the larger, are equal exactly if its edges are paired, but for an accident of probability 2⁻⁶⁴.
// Where they differ, the edges of one group are enough to find one that isn't paired.
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
    Index line = 0;  // where it stands
  };

  PairedEnds() : groups_(kGroups) {}
  /// from ≠ to.
  void add(const End& end);

  bool are_paired() const;
  /// Of ends that aren't all paired: whether this edge is of the group that find_lone() wants.
  bool is_suspect(VertexId from, VertexId to) const;
  /// The end that is alone, of those that are suspect: the first by its edge.
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
