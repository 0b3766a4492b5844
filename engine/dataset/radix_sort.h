// Sorting arcs of one bucket: stable, by destination and then source, in time linear in their number.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.h"

namespace atl {

/// Stable counting passes over `field(record)`, a number below `limit`, least significant digits first.
/// `spare` has the same length and holds rubbish afterwards.
template <class Record, class Field>
void radix_sort(std::vector<Record>& records, std::vector<Record>& spare, std::uint32_t limit, Field field) {
  constexpr int kDigitBits = 11;
  const int bits = int(std::bit_width(limit));
  for (int shift = 0; shift < bits; shift += kDigitBits) {
    std::array<Index, 1 << kDigitBits> next{};
    const std::uint32_t mask = (1u << kDigitBits) - 1;
    for (const Record& record : records) ++next[(field(record) >> shift) & mask];
    Index sum = 0;
    for (Index& place : next) sum += std::exchange(place, sum);
    for (const Record& record : records) spare[std::size_t(next[(field(record) >> shift) & mask]++)] = record;
    records.swap(spare);
  }
}

}  // namespace atl
