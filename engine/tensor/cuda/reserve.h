// A GPU's memory that was asked for at once, given away piece by piece and taken back: so nothing is asked of
// CUDA while a rank trains.
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace atl::cuda {

/// Pieces of one range of addresses, in units of 256 bytes. Knows no GPU. Not thread-safe.
class Reserve {
 public:
  static constexpr std::size_t kUnit = 256;
  explicit Reserve(std::size_t bytes) : bytes_(bytes / kUnit * kUnit) { free_[0] = bytes_; }

  /// Where `bytes`, of whole units, lie: in the smallest gap that holds them. Nothing: none does.
  std::optional<std::size_t> take(std::size_t bytes);
  /// What take() gave.
  void give_back(std::size_t at);
  bool all_free() const { return taken_.empty(); }

 private:
  std::size_t bytes_;
  std::map<std::size_t, std::size_t> free_;   // where a gap begins, its bytes; no two touch
  std::map<std::size_t, std::size_t> taken_;  // where a piece begins, its bytes
};

}  // namespace atl::cuda
