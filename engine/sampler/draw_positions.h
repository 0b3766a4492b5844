// Draws positions in a row of neighbours, in time that grows with the draws and not with the row.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace atl {

/// One thread's. Draw i of a row is a function of (key, i) alone; key: Draws::row_key of the vertex.
class PositionDraws {
 public:
  /// positions: each of 0 … size − 1 with equal probability, independently.
  static void with_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);
  /// positions: distinct ones of 0 … size − 1, each set with equal probability (Floyd, in Bentley & Floyd
  /// 1987); at most `size`.
  void without_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);

 private:
  void few(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);
  void many(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);

  std::vector<VertexId> taken_;  // a hash table of what many() has drawn
};

// A random order of 0 … size − 1 that needs no memory: what stands at a place is computed from the key. So an
// epoch's order of training vertices is never stored, and any step of it can be looked up first.
//
// It is a Feistel network (Luby & Rackoff 1988) over the next power of two; a result beyond the size is put
// through again until it is below ("cycle walking", Black & Rogaway 2002), which takes less than two turns on
// average.

class KeyedOrder {
 public:
  /// size ≤ 2⁶².
  KeyedOrder(std::uint64_t size, std::uint64_t key);

  std::uint64_t size() const { return size_; }
  /// place: 0 … size − 1. Each number is at one place.
  std::uint64_t at(std::uint64_t place) const;
  /// Where a number is.
  std::uint64_t place_of(std::uint64_t number) const;

 private:
  static constexpr std::size_t kRounds = 8;
  std::uint64_t shuffled(std::uint64_t x) const;
  std::uint64_t unshuffled(std::uint64_t x) const;

  std::uint64_t size_;
  int low_bits_;
  std::uint64_t low_mask_, high_mask_;
  std::array<std::uint64_t, kRounds> keys_;
};

}  // namespace atl
