// A cache of rows compared with a plain model of one.
#include "sampler/row_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <span>
#include <vector>

#include "base/random.h"

namespace atl {
namespace {

constexpr Index kCols = 3;

std::vector<Real> values_of(VertexId row) {
  return {Real(row), Real(row) / 2, Real(-row)};
}

constexpr Index kRowBytes = kCols * Index(sizeof(Real));

std::span<const std::byte> bytes_of(const std::vector<Real>& values) {
  return std::as_bytes(std::span(values));
}

/// Null: it isn't there.
const std::byte* find(RowCache& cache, VertexId row) {
  const VertexId place = cache.find(row);
  return place == RowCache::kNone ? nullptr : cache.cell(place);
}

TEST(RowCache, KeepsWhatWasUsedLast) {
  RowCache cache(40, kRowBytes, true);
  const auto capacity = std::size_t(cache.cells());
  ASSERT_GT(capacity, 10U);
  std::list<VertexId> used;  // newest first
  const Draws draws(1, Purpose::kSampling);
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto row = VertexId(draws.uniform_at(i, 0) * draws.uniform_at(i, 1) * 200);
    const auto place = std::ranges::find(used, row);
    const std::byte* const found = find(cache, row);
    ASSERT_EQ(found != nullptr, place != used.end()) << "row " << row << ", use " << i;
    if (found != nullptr) {
      EXPECT_TRUE(std::ranges::equal(std::span(found, std::size_t(kRowBytes)), bytes_of(values_of(row))));
      used.erase(place);
    } else {
      cache.put(row, bytes_of(values_of(row)));
      if (used.size() == capacity) used.pop_back();
    }
    used.push_front(row);
    ASSERT_EQ(std::size_t(cache.size()), used.size());
  }
}

TEST(RowCache, OneThatDoesNotReplaceKeepsWhatCameFirst) {
  RowCache cache(15, kRowBytes, false);
  for (VertexId row = 0; row < 100; ++row) cache.put(row, bytes_of(values_of(row)));
  for (VertexId row = 0; row < 100; ++row) EXPECT_EQ(find(cache, row) != nullptr, row < cache.cells());
}

/// Rows of 0 to 40 bytes in cells of 8: which are there, whole, is as a list of them by use says that has
/// room for 50 cells.
TEST(RowCache, KeepsRowsOfAnyLength) {
  constexpr Index kCells = 50, kCellBytes = 8;
  RowCache cache(kCells, kCellBytes, true);
  const Draws draws(2, Purpose::kSampling);
  const auto row_bytes = [&](VertexId row) {
    std::vector<std::byte> bytes(std::size_t(draws.uniform_at(std::uint64_t(row), 7) * 41));
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(row * 3 + VertexId(i));
    return bytes;
  };
  const auto cells_of = [&](VertexId row) {
    return std::max<Index>(1, (Index(row_bytes(row).size()) + 7) / 8);
  };
  std::list<VertexId> used;  // newest first
  Index held = 0;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    const auto row = VertexId(draws.uniform_at(i, 0) * draws.uniform_at(i, 1) * 120);
    const auto place = std::ranges::find(used, row);
    const VertexId found = cache.find(row);
    ASSERT_EQ(found != RowCache::kNone, place != used.end()) << "row " << row << ", use " << i;
    const std::vector<std::byte> bytes = row_bytes(row);
    if (found != RowCache::kNone) {
      ASSERT_EQ(cache.bytes(found), Index(bytes.size()));
      VertexId cell = found;
      for (std::size_t at = 0; at < bytes.size(); at += kCellBytes, cell = cache.next(cell))
        for (std::size_t b = at; b < std::min(bytes.size(), at + kCellBytes); ++b)
          ASSERT_EQ(cache.cell(cell)[b - at], bytes[b]) << "row " << row << ", byte " << b;
      used.erase(place);
    } else {
      cache.put(row, bytes);
      for (held += cells_of(row); held > kCells; used.pop_back()) held -= cells_of(used.back());
    }
    used.push_front(row);
    ASSERT_EQ(std::size_t(cache.size()), used.size());
  }
}

TEST(RowCache, MayHoldNothing) {
  RowCache none(0, kRowBytes, true);
  none.put(1, bytes_of(values_of(1)));
  EXPECT_EQ(none.find(1), RowCache::kNone);
}

}  // namespace
}  // namespace atl
