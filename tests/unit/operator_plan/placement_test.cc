// Placement against an exhaustive search, which knows nothing of how the answer was found.
#include "operator/plan/placement.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>

#include "operator_plan/clusters.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

void expect_fits(const Topology& topology, const std::vector<std::string>& nodes) {
  std::map<std::string, int> used;
  for (const auto& node : nodes) ++used[node];
  for (const Site& site : topology.sites()) {
    EXPECT_LE(used[std::string(site.node)], site.slots) << site.node;
    used.erase(std::string(site.node));
  }
  EXPECT_TRUE(used.empty()) << used.begin()->first << " has no slot";
}

TEST(Placement, IsTheBestOfAllInSmallFragmentedClusters) {
  std::mt19937 random(1);
  for (int round = 0; round < 60; ++round) {
    const int servers = 2 + int(random() % 6);
    const Topology topology(fragmented(even_cluster(2, 2, 2, 2), 0.4, servers + 1, random), kWeights);
    const auto flows =
        round % 2 ? planar_cut(servers, random) : blocks(servers, 1 + int(random() % 3), random);
    const Traffic traffic(servers, flows);
    const auto answer = place(topology, traffic);
    ASSERT_TRUE(answer);
    expect_fits(topology, answer->nodes);
    EXPECT_NEAR(answer->cost, cost_of(topology, traffic, answer->nodes), 1e-6 * answer->cost + 1e-6);
    EXPECT_NEAR(answer->cost, exhaustive(topology, traffic), 1e-6 * answer->cost + 1e-6) << "round " << round;
  }
}

TEST(Placement, AJobThatFitsOneRackStaysInOne) {
  const Topology topology(even_cluster(2, 2, 3, 1), kWeights);
  const auto answer = place(topology, Traffic::uniform(3, 5));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->nodes, (std::vector<std::string>{"n00", "n01", "n02"}));
  EXPECT_EQ(answer->cost, 3 * 10 * 1);
}

TEST(Placement, FillsTheHoleThatFits) {
  auto sites = even_cluster(1, 3, 3, 1);
  sites[5].slots = 0;  // the second rack has two nodes left
  const auto answer = place(Topology(sites, kWeights), Traffic::uniform(2, 1));
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->nodes, (std::vector<std::string>{"n03", "n04"}));
}

TEST(Placement, ServersThatTalkShareARackWhateverTheirNumbers) {
  const Traffic traffic(4, std::vector<PairBytes>{{0, 2, 100}, {1, 3, 100}, {0, 1, 1}, {2, 3, 1}});
  const auto answer = place(Topology(even_cluster(1, 2, 2, 1), kWeights), traffic);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->nodes, (std::vector<std::string>{"n00", "n02", "n01", "n03"}));
  EXPECT_EQ(answer->cost, 2 * 100 * 1 + 2 * 1 * 10);
  EXPECT_EQ(answer->in_order_cost, 2 * 100 * 10 + 2 * 1 * 1);
}

TEST(Placement, InsideOneDomainOrNotAtAll) {
  auto sites = even_cluster(1, 2, 3, 1);
  const Traffic traffic = Traffic::uniform(3, 1);
  sites[0].slots = 0;  // the first rack has two nodes left
  const auto moved = place(Topology(sites, kWeights), traffic, 1);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->nodes, (std::vector<std::string>{"n03", "n04", "n05"}));
  sites[4].slots = 0;  // the second too
  EXPECT_FALSE(place(Topology(sites, kWeights), traffic, 1));
  EXPECT_TRUE(place(Topology(sites, kWeights), traffic));
}

TEST(Placement, NoRoomIsNoAnswer) {
  EXPECT_FALSE(place(Topology(even_cluster(1, 1, 2, 1), kWeights), Traffic::uniform(3, 1)));
  EXPECT_FALSE(place(Topology({}, kWeights), Traffic::uniform(1, 1)));
}

TEST(Placement, ALargeClusterIsAnsweredAtOnce) {
  std::mt19937 random(3);
  const Topology topology(fragmented(even_cluster(5, 10, 20, 1), 0.3, 520, random), kWeights);
  const Traffic traffic(512, planar_cut(512, random));
  const auto begin = std::chrono::steady_clock::now();
  const auto answer = place(topology, traffic);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  ASSERT_TRUE(answer);
  expect_fits(topology, answer->nodes);
  EXPECT_LT(answer->cost, 0.5 * answer->in_order_cost);
  EXPECT_LT(seconds.count(), 5);  // a benchmark measures it; this only notices a blow-up
  std::printf("%.3f s, cost %.3g, in order %.3g\n", seconds.count(), answer->cost, answer->in_order_cost);
}

}  // namespace
}  // namespace atl::ctl
