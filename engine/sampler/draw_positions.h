// Draws positions in a row of neighbours, in time that grows with the number of draws, not with the row.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/types.h"

namespace atl {

/// Used by one thread. Draw i of a row depends on (key, i) alone; `key` is Draws::row_key of the vertex.
class PositionDraws {
 public:
  /// Fills `positions`: each of 0 … size − 1 with equal probability, independently.
  static void with_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);
  /// Fills `positions`, which has at most `size` elements, with distinct numbers of 0 … size − 1. Every set
  /// of such numbers has the same probability (Floyd, in Bentley & Floyd 1987).
  void without_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);

 private:
  void few(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);
  void many(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions);

  std::vector<VertexId> taken_;  // a hash table of what many() has drawn
};

/// How an owner draws neighbours of its rows, where some neighbours are drawn more often than others. Several
/// threads draw at once.
class NeighbourDraws {
 public:
  /// Used by one thread.
  struct Scratch {
    std::vector<std::pair<double, VertexId>> keys;
    std::vector<double> sums;
    PositionDraws own;
  };
  virtual ~NeighbourDraws() = default;
  /// Fills `positions`, as PositionDraws does, with places among an own row's `size` neighbours. They are
  /// distinct unless `replace`. `key` is Draws::row_key of the vertex.
  virtual void draw(std::uint64_t key, VertexId row, std::uint32_t size, bool replace,
                    std::span<VertexId> positions, Scratch& scratch) const = 0;
};

// A random order of 0 … size − 1 that needs no memory, because the number at a place is computed from the
// key. So an epoch's order of training vertices is never stored, and any step can be looked up directly.
//
// It is a Feistel network (Luby & Rackoff 1988) over the next power of two. A result beyond the size is
// permuted again until it is below the size ("cycle walking", Black & Rogaway 2002). On average this takes
// less than two turns.

class KeyedOrder {
 public:
  /// size ≤ 2⁶².
  KeyedOrder(std::uint64_t size, std::uint64_t key);

  std::uint64_t size() const { return size_; }
  /// The number at `place`, 0 … size − 1. Each number has one place.
  std::uint64_t at(std::uint64_t place) const;
  /// The place of `number`.
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
