#include "tensor/cuda/reserve.h"

#include "base/error.h"

namespace atl::cuda {

std::optional<std::size_t> Reserve::take(std::size_t bytes) {
  auto best = free_.end();
  for (auto gap = free_.begin(); gap != free_.end(); ++gap)
    if (gap->second >= bytes && (best == free_.end() || gap->second < best->second)) best = gap;
  if (best == free_.end()) return std::nullopt;
  const auto [at, gap] = *best;
  free_.erase(best);
  if (gap > bytes) free_[at + bytes] = gap - bytes;
  taken_[at] = bytes;
  return at;
}

void Reserve::give_back(std::size_t at) {
  const auto piece = taken_.find(at);
  ATOLL_CHECK(piece != taken_.end(), "no piece begins at byte {}", at);
  std::size_t bytes = piece->second;
  taken_.erase(piece);
  const auto stop = free_.find(at + bytes);
  if (stop != free_.end()) {
    bytes += stop->second;
    free_.erase(stop);
  }
  const auto next = free_.lower_bound(at);
  if (next != free_.begin())
    if (auto before = std::prev(next); before->first + before->second == at) {
      before->second += bytes;
      return;
    }
  free_[at] = bytes;
}

}  // namespace atl::cuda
