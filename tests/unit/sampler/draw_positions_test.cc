// Drawn positions: in range, distinct where they must be, and each set of them equally often.
#include "sampler/draw_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace atl {
namespace {

TEST(PositionDraws, WithoutReplacementAreDistinctAndInRange) {
  PositionDraws draws;
  for (const std::size_t count : {0, 1, 5, 63, 64, 65, 200, 1000})
    for (const std::size_t size : {count, count + 1, 2 * count + 3, std::size_t(2'000'000'000)}) {
      std::vector<VertexId> positions(count);
      draws.without_replacement(mix64(count), std::uint32_t(size), positions);
      const std::set<VertexId> distinct(positions.begin(), positions.end());
      EXPECT_EQ(distinct.size(), count) << count << " of " << size;
      if (count == 0) continue;
      EXPECT_GE(*distinct.begin(), 0);
      EXPECT_LT(std::size_t(*distinct.rbegin()), size);
    }
}

/// Counts within 5 standard deviations of what all being equally likely gives.
void expect_even(const std::map<std::vector<VertexId>, int>& counts, std::size_t outcomes, int draws) {
  EXPECT_EQ(counts.size(), outcomes);
  const double p = 1.0 / double(outcomes), deviation = std::sqrt(draws * p * (1 - p));
  for (const auto& [outcome, count] : counts) EXPECT_LT(std::abs(count - draws * p), 5 * deviation);
}

TEST(PositionDraws, EachSetIsEquallyLikely) {
  PositionDraws draws;
  std::map<std::vector<VertexId>, int> sets, pairs;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<VertexId> three(3), two(2);
    draws.without_replacement(mix64(std::uint64_t(i)), 6, three);
    std::ranges::sort(three);
    ++sets[three];
    PositionDraws::with_replacement(mix64(std::uint64_t(i)), 4, two);
    ++pairs[two];
  }
  expect_even(sets, 20, kDraws);
  expect_even(pairs, 16, kDraws);
}

/// More than the few that are looked through one by one: each position equally often.
TEST(PositionDraws, OfManyEachIsEquallyLikely) {
  PositionDraws draws;
  std::vector<int> counts(300);
  std::vector<VertexId> positions(100);
  constexpr int kDraws = 3000;
  for (int i = 0; i < kDraws; ++i) {
    draws.without_replacement(mix64(std::uint64_t(i)), 300, positions);
    for (const VertexId position : positions) ++counts[std::size_t(position)];
  }
  const double deviation = std::sqrt(kDraws * (1.0 / 3) * (2.0 / 3));
  for (const int count : counts) EXPECT_LT(std::abs(count - kDraws / 3.0), 5 * deviation);
}

}  // namespace
}  // namespace atl
