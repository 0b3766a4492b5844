#include "sampler/draw_positions.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/random.h"

namespace atl {
namespace {

constexpr std::size_t kFew = 64;
__extension__ using Wide = unsigned __int128;

/// Returns draw number i of the key, in 0 … below − 1. It is number i of SplitMix64's sequence times `below`,
/// of which the upper half is kept. Its bias is below / 2⁶⁴.
std::uint32_t draw(std::uint64_t key, std::uint64_t i, std::uint32_t below) {
  const std::uint64_t bits = mix64(key + i * 0x9e3779b97f4a7c15ull);
  return std::uint32_t(Wide(bits) * below >> 64);
}

}  // namespace

void PositionDraws::with_replacement(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions) {
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = VertexId(draw(key, i, size));
}

/// Draw i takes one of the positions 0 … size − count + i. If an earlier draw took that position, it takes
/// the last of them, which no earlier draw can have taken.
void PositionDraws::without_replacement(std::uint64_t key, std::uint32_t size,
                                        std::span<VertexId> positions) {
  ATOLL_CHECK(positions.size() <= size, "{} of {}", positions.size(), size);
  positions.size() <= kFew ? few(key, size, positions) : many(key, size, positions);
}

/// Compares a position with the earlier ones. A mask of the earlier positions' remainders modulo 64 shows at
/// once that most positions are new.
void PositionDraws::few(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions) {
  std::uint64_t remainders = 0;
  const std::uint32_t first = size - std::uint32_t(positions.size());
  for (std::uint32_t i = 0; i < positions.size(); ++i) {
    std::uint32_t position = draw(key, i, first + i + 1);
    if ((remainders >> (position & 63) & 1) != 0) {
      const auto before = positions.first(i);
      if (std::find(before.begin(), before.end(), VertexId(position)) != before.end()) position = first + i;
    }
    remainders |= std::uint64_t(1) << (position & 63);
    positions[i] = VertexId(position);
  }
}

void PositionDraws::many(std::uint64_t key, std::uint32_t size, std::span<VertexId> positions) {
  constexpr VertexId kFree = -1;
  const std::size_t mask = std::bit_ceil(2 * positions.size()) - 1;
  taken_.assign(mask + 1, kFree);
  const auto add = [&](VertexId position) {
    std::size_t at = mix64(std::uint64_t(position)) & mask;
    while (taken_[at] != kFree && taken_[at] != position) at = (at + 1) & mask;
    const bool is_new = taken_[at] == kFree;
    taken_[at] = position;
    return is_new;
  };
  const std::uint32_t first = size - std::uint32_t(positions.size());
  for (std::uint32_t i = 0; i < positions.size(); ++i) {
    auto position = VertexId(draw(key, i, first + i + 1));
    if (!add(position)) add(position = VertexId(first + i));
    positions[i] = position;
  }
}

KeyedOrder::KeyedOrder(std::uint64_t size, std::uint64_t key) : size_(size) {
  ATOLL_CHECK(size <= std::uint64_t(1) << 62, "an order of {}", size);
  const int bits = size <= 1 ? 0 : int(std::bit_width(size - 1));
  low_bits_ = bits / 2;
  low_mask_ = (std::uint64_t(1) << low_bits_) - 1;
  high_mask_ = (std::uint64_t(1) << (bits - low_bits_)) - 1;
  for (std::size_t round = 0; round < kRounds; ++round) keys_[round] = mix64(mix64(key) + round);
}

/// Splits x into two halves, which may differ by one bit in length. Each round changes one half by a function
/// of the other half, so that the round can be undone.
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
