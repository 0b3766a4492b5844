// The share of a graph's arcs that have their reverse: 1 for an undirected graph, near 0 if each edge is
// stored once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace atl {

/// Counts for pairs of vertices whether they have both arcs: for all pairs in a graph of up to 2¹⁸ arcs,
/// otherwise for about 2¹⁸ pairs, chosen by their ids alone. So memory is bounded, and the result doesn't
/// depend on the order of arcs.
class ReverseShare {
 public:
  /// `arcs`: the most arcs that all objects to be joined will get together.
  explicit ReverseShare(Index arcs);

  /// Adds an arc; each may be added once. Self-loops don't count.
  void add(VertexId dst, VertexId src);
  void join(const ReverseShare& other);
  /// Returns 0 … 1; 1 if no arc joins two vertices.
  double share();

 private:
  static constexpr Index kCounted = Index(1) << 18;  // 2 MiB; the error is at most 0.2 %

  std::uint64_t limit_;               // pairs whose mixed bits are at most this are counted
  std::vector<std::uint64_t> pairs_;  // each pair once per arc between its vertices
};

inline ReverseShare::ReverseShare(Index arcs) : limit_(std::numeric_limits<std::uint64_t>::max()) {
  if (arcs > kCounted) limit_ = limit_ / std::uint64_t(arcs) * std::uint64_t(kCounted);
}

inline void ReverseShare::add(VertexId dst, VertexId src) {
  if (dst == src) return;
  const auto [low, high] = std::minmax(dst, src);
  const std::uint64_t pair = std::uint64_t(low) << 32 | std::uint32_t(high);
  if (mix64(pair) <= limit_) pairs_.push_back(pair);
}

inline void ReverseShare::join(const ReverseShare& other) {
  pairs_.insert(pairs_.end(), other.pairs_.begin(), other.pairs_.end());
}

inline double ReverseShare::share() {
  if (pairs_.empty()) return 1;
  std::sort(pairs_.begin(), pairs_.end());
  Index alone = 0;
  for (std::size_t i = 0; i < pairs_.size();) {
    const bool both_ways = i + 1 < pairs_.size() && pairs_[i] == pairs_[i + 1];
    alone += !both_ways;
    i += both_ways ? 2 : 1;
  }
  return 1 - double(alone) / double(pairs_.size());
}

}  // namespace atl
