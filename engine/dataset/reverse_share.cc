#include "dataset/reverse_share.h"

#include <algorithm>
#include <limits>

#include "base/random.h"

namespace atl {
namespace {

constexpr Index kCounted = Index(1) << 18;  // 2 MiB; the error is at most 0.2 %

}  // namespace

ReverseShare::ReverseShare(Index arcs) : limit_(std::numeric_limits<std::uint64_t>::max()) {
  if (arcs > kCounted) limit_ = limit_ / std::uint64_t(arcs) * std::uint64_t(kCounted);
}

void ReverseShare::add(VertexId dst, VertexId src) {
  if (dst == src) return;
  const auto [low, high] = std::minmax(dst, src);
  const std::uint64_t pair = std::uint64_t(low) << 32 | std::uint32_t(high);
  if (mix64(pair) <= limit_) pairs_.push_back(pair);
}

void ReverseShare::join(const ReverseShare& other) {
  pairs_.insert(pairs_.end(), other.pairs_.begin(), other.pairs_.end());
}

double ReverseShare::share() {
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
