// Servers' flows in few numbers: all of them where they are few, else those that stand out.
#include "plan/traffic.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>

namespace atl {
namespace {

Layout layout_of(int servers, int ranks_each) {
  Layout layout;
  for (int s = 0; s < servers; ++s) {
    layout.groups.emplace_back();
    for (int r = 0; r < ranks_each; ++r) layout.groups.back().push_back(Rank(s * ranks_each + r));
  }
  return layout;
}

std::vector<PairBytes> all_to_all(int ranks, const std::function<double(int, int)>& bytes) {
  std::vector<PairBytes> flows;
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < ranks; ++b)
      if (a != b) flows.push_back({a, b, bytes(a, b)});
  return flows;
}

double total(const ServerFlows& flows, int servers) {
  double sum = flows.unlisted * (servers * (servers - 1) / 2.0 - double(flows.listed.size()));
  for (const PairBytes& flow : flows.listed) sum += flow.bytes;
  return sum;
}

TEST(ServerFlows, SumUpBothDirectionsOfAllRanks) {
  const std::vector<PairBytes> ranks = {{0, 1, 5}, {0, 2, 10}, {3, 1, 20}, {4, 5, 7}, {5, 0, 1}};
  const ServerFlows flows = server_flows(layout_of(3, 2), ranks, 100);
  EXPECT_EQ(flows.unlisted, 0);
  ASSERT_EQ(flows.listed.size(), 2U) << "within a server nothing crosses";
  EXPECT_EQ(flows.listed[0].from, 0);
  EXPECT_EQ(flows.listed[0].to, 2);
  EXPECT_EQ(flows.listed[0].bytes, 30);
  EXPECT_EQ(flows.listed[1].to, 4);
  EXPECT_EQ(flows.listed[1].bytes, 1);
}

TEST(ServerFlows, WhereAllExchangeTheSameNoneIsListed) {
  const ServerFlows flows =
      server_flows(layout_of(512, 1), all_to_all(512, [](int, int) { return 3000; }), 30'000);
  EXPECT_TRUE(flows.listed.empty());
  EXPECT_EQ(flows.unlisted, 6000);
}

TEST(ServerFlows, ThoseThatStandOutAreListed) {
  std::mt19937 random(1);
  const auto bytes = [&](int a, int b) {
    return double(a / 8 == b / 8 ? 1'000'000 : 1000) + double(random() % 10);
  };
  const auto ranks = all_to_all(128, bytes);
  double sum = 0;
  for (const PairBytes& flow : ranks) sum += flow.bytes;
  const ServerFlows flows = server_flows(layout_of(128, 1), ranks, 1000);
  EXPECT_LE(flows.listed.size(), 1000U);
  EXPECT_NEAR(flows.unlisted, 2009, 1);
  EXPECT_NEAR(total(flows, 128), sum, 128 * 128 / 2.0);
  int near = 0;
  for (const PairBytes& flow : flows.listed) near += flow.bytes > 1'000'000;
  EXPECT_EQ(near, 16 * 8 * 7 / 2) << "all within the groups of eight";
}

TEST(ServerFlows, WhoIsSilentAmongMany) {
  const auto bytes = [](int a, int b) { return std::min(a, b) == 0 && std::max(a, b) == 1 ? 0.0 : 500.0; };
  const ServerFlows flows = server_flows(layout_of(64, 1), all_to_all(64, bytes), 100);
  ASSERT_EQ(flows.listed.size(), 1U);
  EXPECT_EQ(flows.listed[0].bytes, 0);
  EXPECT_EQ(flows.unlisted, 1000);
}

}  // namespace
}  // namespace atl
