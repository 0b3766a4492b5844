// A GPU's memory that was allocated at once and is given out and taken back piece by piece, so that CUDA
// allocates nothing while a rank trains.
#pragma once

#include <cstddef>
#include <iterator>
#include <map>
#include <optional>

#include "base/error.h"

namespace atl::cuda {

/// Pieces of one range of addresses, in units of 256 bytes. Doesn't touch a GPU. Not thread-safe.
class Reserve {
 public:
  static constexpr std::size_t kUnit = 256;
  explicit Reserve(std::size_t bytes) : bytes_(bytes / kUnit * kUnit) { free_[0] = bytes_; }

  /// Offset of `bytes` bytes, in whole units, in the smallest gap that holds them; nothing if no gap does.
  std::optional<std::size_t> take(std::size_t bytes);
  /// Takes back the piece that take() returned.
  void give_back(std::size_t at);
  bool all_free() const { return taken_.empty(); }

 private:
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> free_;   // begin → bytes of each gap; gaps never touch
  std::map<std::size_t, std::size_t> taken_;  // begin → bytes of each piece
};

inline std::optional<std::size_t> Reserve::take(std::size_t bytes) {
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

inline void Reserve::give_back(std::size_t at) {
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
