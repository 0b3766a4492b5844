// Checks whether each edge of an undirected graph is listed at both of its ends, in memory that doesn't grow
// with the graph. Edges are dealt into groups by their ends. A group has two sums of the edges' fingerprints:
// as the smaller ends list the edges, and as the larger ends do. They are equal exactly if the group's edges
// are paired, but for an accident of probability 2⁻⁶⁴. If they differ, the edges of that one group are enough
// to find one that isn't paired.
#pragma once

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "base/random.h"
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
  static std::uint64_t edge_key(VertexId a, VertexId b) {
    return mix64(std::uint64_t(std::uint32_t(std::min(a, b))) << 32 | std::uint32_t(std::max(a, b)));
  }
  /// A key that sorts ends of the same edge and weight together.
  static std::tuple<VertexId, VertexId, Index> edge_of(const End& end) {
    return {std::min(end.from, end.to), std::max(end.from, end.to), end.weight};
  }
  std::size_t first_unpaired() const;

  std::vector<Group> groups_;
};

inline void PairedEnds::add(const End& end) {
  const std::uint64_t key = edge_key(end.from, end.to);
  Group& group = groups_[key % kGroups];
  (end.from < end.to ? group.from_smaller : group.from_larger) +=
      mix64(key ^ mix64(std::uint64_t(end.weight)));
}

inline std::size_t PairedEnds::first_unpaired() const {
  const auto differ = [](const Group& group) { return group.from_smaller != group.from_larger; };
  return std::size_t(std::ranges::find_if(groups_, differ) - groups_.begin());
}

inline bool PairedEnds::are_paired() const {
  return first_unpaired() == kGroups;
}

inline bool PairedEnds::is_suspect(VertexId from, VertexId to) const {
  return edge_key(from, to) % kGroups == first_unpaired();
}

inline PairedEnds::End PairedEnds::find_lone(std::vector<End> suspects) {
  std::ranges::sort(suspects, {}, [](const End& end) { return std::tuple(edge_of(end), end.line); });
  for (std::size_t i = 0; i < suspects.size();) {
    std::size_t next = i, smaller = 0;
    for (; next < suspects.size() && edge_of(suspects[next]) == edge_of(suspects[i]); ++next)
      smaller += suspects[next].from < suspects[next].to;
    const std::size_t larger = next - i - smaller;
    const auto is_lone = [&](const End& end) { return (end.from < end.to) == (smaller > larger); };
    if (smaller != larger)
      return *std::find_if(suspects.begin() + std::ptrdiff_t(i), suspects.begin() + std::ptrdiff_t(next),
                           is_lone);
    i = next;
  }
  ATOLL_CHECK(false, "{} suspects are all paired", suspects.size());
  return {};
}

}  // namespace atl
