// A computed order is a permutation, the same for the same key, and favours no place.
#include "sampler/draw_positions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/random.h"

namespace atl {
namespace {

TEST(KeyedOrder, HoldsEachNumberOnce) {
  for (std::uint64_t size = 0; size < 300; ++size) {
    const KeyedOrder order(size, mix64(size));
    std::vector<bool> seen(size);
    for (std::uint64_t place = 0; place < size; ++place) {
      const std::uint64_t at = order.at(place);
      ASSERT_LT(at, size);
      ASSERT_FALSE(seen[at]) << at << " of " << size;
      seen[at] = true;
    }
  }
}

TEST(KeyedOrder, DependsOnItsKeyAlone) {
  const KeyedOrder first(1000, 7), again(1000, 7), other(1000, 8);
  int equal = 0;
  for (std::uint64_t place = 0; place < 1000; ++place) {
    EXPECT_EQ(first.at(place), again.at(place));
    equal += first.at(place) == other.at(place);
  }
  EXPECT_LT(equal, 20);
}

/// Pearson's chi-square of where each number stands, over many keys: within 5 standard deviations of its
/// mean. (Of permutations, each row and column of counts has its sum, so that (n − 1)² are free, each
/// n / (n − 1) wide.)
TEST(KeyedOrder, FavoursNoPlace) {
  for (const std::uint64_t size : {2, 3, 5, 12, 33}) {
    const std::uint64_t keys = 4000;
    std::vector<int> counts(size * size);
    for (std::uint64_t key = 0; key < keys; ++key) {
      const KeyedOrder order(size, key);
      for (std::uint64_t place = 0; place < size; ++place) ++counts[place * size + order.at(place)];
    }
    const double expected = double(keys) / double(size);
    double chi = 0;
    for (const int count : counts) chi += (count - expected) * (count - expected) / expected;
    chi *= double(size - 1) / double(size);
    const double freedom = double((size - 1) * (size - 1));
    EXPECT_LT(std::abs(chi - freedom), 5 * std::sqrt(2 * freedom) + 1) << size;
  }
}

}  // namespace
}  // namespace atl
