// A random order of 0 … size − 1 that needs no memory: what stands at a place is computed from the key. So an epoch's order of
// training vertices is never stored, and any step of it can be looked up first.
//
// It is a Feistel network (Luby & Rackoff 1988) over the next power of two; a result beyond the size is put through again until
// it is below ("cycle walking", Black & Rogaway 2002), which takes less than two turns on average.
#pragma once

#include <array>
#include <cstdint>

namespace atl {

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
