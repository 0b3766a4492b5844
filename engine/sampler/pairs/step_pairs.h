// The pairs of vertices in a rank's share of a step's loss: training edges, and negative pairs drawn for
// them.
#pragma once

#include <algorithm>
#include <vector>

#include "base/reusable.h"

namespace atl {

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
/// number, or kUnsortedEnds.
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
