// A GPU's memory that was allocated at once and is given out and taken back piece by piece, so that CUDA
// allocates nothing while a rank trains.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

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

}  // namespace atl::cuda
