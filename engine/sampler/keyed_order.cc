#include "sampler/keyed_order.h"

#include <bit>

#include "base/error.h"
#include "base/random.h"

namespace atl {

KeyedOrder::KeyedOrder(std::uint64_t size, std::uint64_t key) : size_(size) {
  ATOLL_CHECK(size <= std::uint64_t(1) << 62, "an order of {}", size);
  const int bits = size <= 1 ? 0 : int(std::bit_width(size - 1));
  low_bits_ = bits / 2;
  low_mask_ = (std::uint64_t(1) << low_bits_) - 1;
  high_mask_ = (std::uint64_t(1) << (bits - low_bits_)) - 1;
  for (std::size_t round = 0; round < kRounds; ++round) keys_[round] = mix64(mix64(key) + round);
}

/// The halves may differ by a bit; each round changes one of them by what the other holds, which can be undone.
std::uint64_t KeyedOrder::shuffled(std::uint64_t x) const {
  std::uint64_t low = x & low_mask_, high = x >> low_bits_;
  for (std::size_t round = 0; round < kRounds; round += 2) {
    high ^= mix64(keys_[round] ^ low) & high_mask_;
    low ^= mix64(keys_[round + 1] ^ high) & low_mask_;
  }
  return high << low_bits_ | low;
}

std::uint64_t KeyedOrder::unshuffled(std::uint64_t x) const {
  std::uint64_t low = x & low_mask_, high = x >> low_bits_;
  for (std::size_t round = kRounds; round > 0; round -= 2) {
    low ^= mix64(keys_[round - 1] ^ high) & low_mask_;
    high ^= mix64(keys_[round - 2] ^ low) & high_mask_;
  }
  return high << low_bits_ | low;
}

std::uint64_t KeyedOrder::place_of(std::uint64_t number) const {
  ATOLL_CHECK(number < size_, "number {} of {}", number, size_);
  std::uint64_t x = unshuffled(number);
  while (x >= size_) x = unshuffled(x);
  return x;
}

std::uint64_t KeyedOrder::at(std::uint64_t place) const {
  ATOLL_CHECK(place < size_, "place {} of {}", place, size_);
  std::uint64_t x = shuffled(place);
  while (x >= size_) x = shuffled(x);
  return x;
}

}  // namespace atl
