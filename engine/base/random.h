// Counter-based random numbers. A draw is a pure function of what it is for, never of when or where it is
// made: (seed, purpose, step, layer) choose a stream, (vertex, column) or (src, dst, head) a number in it. So
// results depend neither on the number of ranks or threads nor on the partitioning, and any rank that holds a
// stale row can apply the present step's mask to it (PipeGCN).
#pragma once

#include <cstdint>

namespace atl {

enum class Purpose : std::uint32_t {
  kWeights = 1,
  kDropout = 2,
  kAttentionDropout = 3,
  kInputDropout = 4,
  kSampling = 5,
  kPartition = 6,
  kGenerator = 7,
  kBatch = 8,       // which vertices a step trains on
  kNeighbour = 9,   // which neighbours a vertex of a mini-batch reads
  kChunks = 10,     // in which order an epoch goes over chunks
  kExpansion = 11,  // which neighbours on other servers a server copies
  kNegative = 12,   // which pairs link prediction trains on as non-edges
};

/// A bijective mixer of 64 bits (the finaliser of SplitMix64, Steele et al. 2014).
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// A bijective mixer of 32 bits (the finaliser of MurmurHash3), cheap enough for one draw per matrix element;
/// vectorises to eight or sixteen lanes.
constexpr std::uint32_t mix32(std::uint32_t x) {
  x = (x ^ (x >> 16)) * 0x85ebca6bu;
  x = (x ^ (x >> 13)) * 0xc2b2ae35u;
  return x ^ (x >> 16);
}

/// One stream of draws. Cheap to copy; holds no state that a draw changes.
class Draws {
 public:
  constexpr Draws() = default;
  constexpr Draws(std::uint64_t seed, Purpose purpose, std::uint64_t step = 0, std::uint64_t layer = 0)
      : key_(mix64(mix64(mix64(seed ^ (std::uint64_t(purpose) << 56)) ^ step) ^ layer)) {}

  /// The key of one row's (vertex's) numbers.
  constexpr std::uint64_t row_key(std::uint64_t vertex) const {
    return mix64(key_ ^ (vertex * 0xd1342543de82ef95ull));
  }

  /// 32 uniform bits for one column of a row whose row_key is given. Kernels repeat this expression in their
  /// own vector code; tests hold them to it.
  static constexpr std::uint32_t bits(std::uint64_t row_key, std::uint32_t column) {
    return mix32(std::uint32_t(row_key) + column * 0x9e3779b9u) ^ std::uint32_t(row_key >> 32);
  }
  constexpr std::uint32_t bits_at(std::uint64_t vertex, std::uint32_t column) const {
    return bits(row_key(vertex), column);
  }

  /// 64 uniform bits for one element.
  constexpr std::uint64_t bits64_at(std::uint64_t vertex, std::uint64_t column) const {
    return mix64(row_key(vertex) ^ mix64(column));
  }

  /// Uniform in [0, 1) with 53 bits.
  constexpr double uniform_at(std::uint64_t vertex, std::uint64_t column) const {
    return double(bits64_at(vertex, column) >> 11) * 0x1.0p-53;
  }

  constexpr std::uint64_t key() const { return key_; }

 private:
  std::uint64_t key_ = 0;
};

/// Dropout keeps an element when its 32 bits are at or above this threshold: P(drop) = threshold / 2³².
constexpr std::uint32_t drop_threshold(double rate) {
  return rate <= 0 ? 0u : std::uint32_t(rate * 4294967296.0);
}

}  // namespace atl
