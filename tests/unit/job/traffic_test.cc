// Byte formulas of strategies at sizes beyond 32 bits: rows, columns and bytes are counted in 64 bits, and
// results equal those of whole numbers of any size.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "job/strategies.h"

namespace atl {
namespace {

__extension__ using Whole = __int128;

/// Of a result that an Index holds.
Index index_of(Whole exact) {
  EXPECT_EQ(Whole(Index(exact)), exact) << "this test asks for too much";
  return Index(exact);
}

constexpr Index kHaloRows = 7'000'000'001, kParameters = 3'000'000'000, kFew = 1000, kWide = 1024,
                kNarrow = 602;
constexpr Index kOwned = 2'000'000'003;  // of each rank: the most rows that local numbers reach

/// Of two layers that rows cross for, of which recomputing fetches the first one's again.
TrafficShape huge(int ranks) {
  TrafficShape shape;
  shape.ranks = ranks;
  shape.halo_rows = kHaloRows;
  shape.widths = {kWide, kNarrow};
  shape.repeated_widths = {kWide};
  shape.parameters = {kParameters, kFew};
  shape.owned_by_rank.assign(std::size_t(ranks), kOwned);
  return shape;
}

/// Of large sums a slice goes to every other rank and back; small ones go whole, from each to each.
Index huge_gradient(int ranks) {
  return index_of(Whole(2) * (ranks - 1) * kParameters * 4 + Whole(ranks) * (ranks - 1) * kFew * 4);
}

EpochTraffic traffic_of(const char* kind, const TrafficShape& shape, const Options& options = {}) {
  return find_strategy(kind)->traffic(options, shape);
}

/// Bytes by sender.
std::map<int, double> sent(const std::vector<PairBytes>& flows) {
  std::map<int, double> bytes;
  for (const PairBytes& flow : flows) bytes[flow.from] += flow.bytes;
  return bytes;
}

TEST(Traffic, OfBoundaryRows) {
  const Index once = index_of(Whole(kHaloRows) * (kWide + kNarrow) * 4);
  const Index again = index_of(Whole(kHaloRows) * kWide * 4);
  for (const int ranks : {2, 3, 64, 1000}) {
    for (const char* kind : {"graph", "bns", "pipegcn"}) {
      const EpochTraffic traffic = traffic_of(kind, huge(ranks));
      const Index repeated = std::string(kind) == "pipegcn" ? 0 : again;  // its late rows are still there
      EXPECT_EQ(traffic.halo, once) << kind;
      EXPECT_EQ(traffic.halo_gradient, once) << kind;
      EXPECT_EQ(traffic.recompute, repeated) << kind;
      EXPECT_EQ(traffic.gradient, huge_gradient(ranks)) << kind << ", " << ranks << " ranks";
      EXPECT_EQ(traffic.total(), 2 * once + repeated + traffic.gradient) << kind;
    }
  }
}

TEST(Traffic, OfBoundaryRowsInHalfTheBytes) {
  TrafficShape shape = huge(4);
  shape.bytes_per_value = 2;
  const EpochTraffic traffic = traffic_of("graph", shape);
  EXPECT_EQ(traffic.halo, index_of(Whole(kHaloRows) * (kWide + kNarrow) * 2));
  EXPECT_EQ(traffic.gradient, huge_gradient(4));
}

/// Numbers of bytes below 2⁵³, which doubles hold as they are.
TEST(Traffic, OfBoundaryRowsByPair) {
  const int ranks = 4;
  const Index gradient = huge_gradient(ranks) / ranks;  // that each sends
  const Index forth = index_of(Whole(kHaloRows) * (2 * kWide + kNarrow) * 4),
              back = index_of(Whole(kHaloRows) * (kWide + kNarrow) * 4);
  const auto flows = find_strategy("graph")->flows({}, huge(ranks), {{0, 2, kHaloRows}, {1, 0, kHaloRows}});
  const std::map<int, double> expected{{0, double(gradient + forth + back)},
                                       {1, double(gradient + forth)},
                                       {2, double(gradient + back)},
                                       {3, double(gradient)}};
  EXPECT_EQ(sent(flows), expected);
}

TEST(Traffic, OfWholeBlocks) {
  for (const int ranks : {2, 3, 64}) {
    const Whole rows = Whole(ranks) * (ranks - 1) * kOwned;
    const EpochTraffic cagnet = traffic_of("cagnet", huge(ranks)), sancus = traffic_of("sancus", huge(ranks));
    EXPECT_EQ(cagnet.halo, index_of(rows * (kWide + kNarrow) * 4));
    EXPECT_EQ(cagnet.halo_gradient, cagnet.halo);
    EXPECT_EQ(cagnet.recompute, index_of(rows * kWide * 4));
    EXPECT_EQ(cagnet.gradient, huge_gradient(ranks));
    EXPECT_EQ(sancus.halo, cagnet.halo);
    EXPECT_EQ(sancus.halo_gradient, cagnet.halo);
    EXPECT_EQ(sancus.recompute, 0) << "rows that came once are kept";
    const auto by_rank = sent(find_strategy("cagnet")->flows({}, huge(ranks), {}));
    ASSERT_EQ(by_rank.size(), std::size_t(ranks));
    for (const auto& [rank, bytes] : by_rank)
      EXPECT_DOUBLE_EQ(bytes, double(cagnet.total()) / ranks) << "rank " << rank;
  }
}

/// Two by two ranks: the columns take the blocks of ranks 0 and 1, and of 2 and 3. In each column stands one
/// of the ranks whose block it takes, which sends it to the other rank alone; the other one sends its own to
/// both.
TEST(Traffic, OfAGridOfBlocks) {
  TrafficShape shape = huge(4);
  Options options;
  options.set("replication", std::int64_t{2});
  shape.forward = {8 * kWide, 12};
  shape.backward = {16, 4 * kNarrow};
  shape.repeated = {4 * kWide, 20};
  const Whole blocks = Whole(1 + 2 + 2 + 1) * kOwned, merged = Whole(4) * kOwned;
  const EpochTraffic traffic = traffic_of("cagnet", shape, options);
  EXPECT_EQ(traffic.halo, index_of(blocks * (kWide + kNarrow) * 4 + merged * (8 * kWide + 12)));
  EXPECT_EQ(traffic.halo_gradient, index_of(blocks * (kWide + kNarrow) * 4 + merged * (4 * kNarrow + 16)));
  EXPECT_EQ(traffic.recompute, index_of(blocks * kWide * 4 + merged * (4 * kWide + 20)));
  double all = 0;
  for (const auto& [rank, bytes] : sent(find_strategy("cagnet")->flows(options, shape, {}))) all += bytes;
  EXPECT_EQ(all, double(traffic.total()));
}

TEST(Traffic, OfASampleOfRows) {
  for (const auto& [kind, option] : {std::pair{"bns", "rate"}, {"pipegcn", "boundaryRate"}}) {
    const auto boundary_set = [&, name = option, info = find_strategy(kind)](double rate, Index boundary) {
      Options options;
      options.set(name, rate);
      return info->boundary_rows_sent(options, boundary);
    };
    EXPECT_EQ(boundary_set(0.1, 30'000'000'000), 3'000'000'000) << kind;
    EXPECT_EQ(boundary_set(0.29, 100'000'000'000), 29'000'000'000) << kind;
    EXPECT_EQ(boundary_set(0.5, kHaloRows), kHaloRows / 2) << kind;
    EXPECT_EQ(boundary_set(1, kHaloRows), kHaloRows) << kind;
    EXPECT_EQ(boundary_set(1e-12, kHaloRows), 1) << kind;
    EXPECT_EQ(boundary_set(0, kHaloRows), 0) << kind;
  }
}

}  // namespace
}  // namespace atl
