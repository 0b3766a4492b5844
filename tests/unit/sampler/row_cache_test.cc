// A cache of rows against a plain model of one.
#include "sampler/row_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "base/random.h"

namespace atl {
namespace {

constexpr Index kCols = 3;

std::vector<Real> values_of(VertexId row) {
  return {Real(row), Real(row) / 2, Real(-row)};
}

TEST(RowCache, KeepsWhatWasUsedLast) {
  RowCache cache(40, kCols, true);
  const auto capacity = std::size_t(cache.capacity());
  ASSERT_GT(capacity, 10U);
  std::list<VertexId> used;  // newest first
  const Draws draws(1, Purpose::kSampling);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto row = VertexId(draws.uniform_at(i, 0) * draws.uniform_at(i, 1) * 200);
    const auto place = std::ranges::find(used, row);
    const Real* found = cache.find(row);
    ASSERT_EQ(found != nullptr, place != used.end()) << "row " << row << ", use " << i;
    if (found != nullptr) {
      EXPECT_TRUE(std::equal(found, found + kCols, values_of(row).begin()));
      used.erase(place);
    } else {
      cache.put(row, values_of(row).data());
      if (used.size() == capacity) used.pop_back();
    }
    used.push_front(row);
    ASSERT_EQ(std::size_t(cache.size()), used.size());
  }
}

TEST(RowCache, OneThatDoesNotReplaceKeepsWhatCameFirst) {
  RowCache cache(15, kCols, false);
  for (VertexId row = 0; row < 100; ++row) cache.put(row, values_of(row).data());
  for (VertexId row = 0; row < 100; ++row) EXPECT_EQ(cache.find(row) != nullptr, row < cache.capacity());
}

TEST(RowCache, MayHoldNothing) {
  RowCache none(0, kCols, true);
  none.put(1, values_of(1).data());
  EXPECT_EQ(none.find(1), nullptr);
}

}  // namespace
}  // namespace atl
