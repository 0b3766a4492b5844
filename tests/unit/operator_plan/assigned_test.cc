// Plans on nodes that a queue has assigned: on these alone, as many servers on each as it says, in the order
// that costs least. The best order is found by trying all.
#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "operator/plan/demand_class.h"
#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

using Servers = std::map<std::string, int>;  // by node

/// Racks r0, r1, r2 of four nodes each, n0 … n11, and room for four servers on each node.
Snapshot cluster() {
  Snapshot snapshot;
  for (int n = 0; n < 12; ++n) {
    NodeState node;
    node.name = "n" + std::to_string(n);
    node.labels = {{kHostnameLabel, node.name}, {"rack", "r" + std::to_string(n / 4)}};
    node.ready = true;
    node.allocatable = Resources({{"cpu", 4000}, {"pods", 110}});
    snapshot.nodes.push_back(node);
  }
  return snapshot;
}

int rack_of(const std::string& node) {
  return std::stoi(node.substr(1)) / 4;
}

void occupy(Snapshot& snapshot, const std::string& node) {
  PodState pod;
  pod.name = "other/on-" + node;
  pod.node = node;
  pod.requests = Resources({{"cpu", 4000}, {"pods", 1}});
  snapshot.pods.push_back(pod);
}

/// Servers of one rank and one core. A byte between racks costs 10, between nodes 1.
Gang gang_on(const Servers& assigned, const std::vector<PairBytes>& flows = {}) {
  Gang gang;
  gang.job = "team/j";
  for (const auto& [node, servers] : assigned)
    for (int s = 0; s < servers; ++s) gang.servers.push_back({int(gang.servers.size())});
  gang.server = Resources({{"cpu", 1000}, {"pods", 1}});
  gang.traffic = Traffic(int(gang.servers.size()), flows);
  gang.levels = {"rack", kHostnameLabel};
  gang.weights = {10, 1};
  gang.assigned = assigned;
  return gang;
}

Servers counted(const std::vector<std::string>& nodes) {
  Servers servers;
  for (const std::string& node : nodes) ++servers[node];
  return servers;
}

double cost(const std::vector<std::string>& nodes, const std::vector<PairBytes>& flows) {
  double all = 0;
  for (const PairBytes& flow : flows) {
    const std::string &a = nodes[std::size_t(flow.from)], &b = nodes[std::size_t(flow.to)];
    all += flow.bytes * (a == b ? 0 : rack_of(a) == rack_of(b) ? 1 : 10);
  }
  return all;
}

/// Of every order of the servers on their places.
double least_cost(const Servers& assigned, const std::vector<PairBytes>& flows) {
  std::vector<std::string> places;
  for (const auto& [node, servers] : assigned)
    for (int s = 0; s < servers; ++s) places.push_back(node);
  double least = std::numeric_limits<double>::infinity();
  do least = std::min(least, cost(places, flows));
  while (std::ranges::next_permutation(places).found);
  return least;
}

TEST(AssignedPlan, CostsNoMoreThanTheBestOfAllOrders) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const int servers = 2 + int(seed % 6);
    Servers assigned;
    for (int s = 0; s < servers;)
      if (int& there = assigned["n" + std::to_string(random() % 12)]; there < 4) ++there, ++s;
    std::vector<PairBytes> flows;
    for (int a = 0; a < servers; ++a)
      for (int b = a + 1; b < servers; ++b)
        if (random() % 3 > 0) flows.push_back({a, b, double(1 + random() % 1000)});
    const GangPlan plan = plan_gang(gang_on(assigned, flows), cluster());
    ASSERT_TRUE(plan.fits);
    EXPECT_EQ(counted(plan.nodes), assigned) << "as many on each node as it has places";
    const double least = least_cost(assigned, flows);
    EXPECT_NEAR(cost(plan.nodes, flows), least, 1e-9 * least);
    EXPECT_NEAR(plan.cost, least, 1e-9 * least);
    EXPECT_NEAR(plan.best_possible, least, 1e-9 * least) << "on empty nodes, of the same";
  }
}

TEST(AssignedPlan, UsesNoOtherNodeThoughThatCostMuchLess) {
  const std::vector<PairBytes> flows = {{0, 1, 100}};
  const GangPlan plan = plan_gang(gang_on({{"n2", 1}, {"n9", 1}}, flows), cluster());
  EXPECT_THAT(plan.nodes, UnorderedElementsAre("n2", "n9"));
  EXPECT_EQ(plan.cost, 1000);
  EXPECT_EQ(plan.reasons, std::vector<std::string>()) << "nothing is in the way";
}

TEST(AssignedPlan, PutsServerZeroWhereItsVolumeIs) {
  Gang gang = gang_on({{"n2", 1}, {"n9", 2}}, {{0, 1, 100}, {1, 2, 1}});
  GangVolume output{"results", Mounters::kFirstServer};
  const LabelRule in_r0{"rack", "In", {"r0"}, false};
  output.place.terms.push_back({in_r0});
  gang.volumes = {output};
  EXPECT_THAT(plan_gang(gang, cluster()).nodes, ElementsAre("n2", "n9", "n9"));
}

TEST(AssignedPlan, WithoutRoomThereSaysSoAndWhatWouldHelp) {
  Snapshot on = cluster();
  on.nodes[2].cordoned = true;
  const GangPlan cordoned = plan_gang(gang_on({{"n2", 1}, {"n9", 1}}), on);
  EXPECT_FALSE(cordoned.fits);
  const char* what = "the nodes that its queue assigned have room for 1; its queue has to assign others";
  EXPECT_THAT(cordoned.reasons, ElementsAre(HasSubstr(what), "not considered: n2 is cordoned"));
  on.nodes[2].cordoned = false;
  occupy(on, "n9");
  const GangPlan full = plan_gang(gang_on({{"n2", 1}, {"n9", 1}}), on);
  EXPECT_THAT(full.reasons, ElementsAre(HasSubstr("assigned have room for 1; freeing n9 would do")));
  const GangPlan few = plan_gang(gang_on({{"n2", 1}, {"n9", 1}}), cluster());
  EXPECT_TRUE(few.fits);
}

TEST(AssignedPlan, OnNodesThatDontExistWaitsForOthers) {
  const GangPlan plan = plan_gang(gang_on({{"n2", 1}, {"n99", 1}}), cluster());
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.reasons.back(), "not considered: n99 does not exist");
  const GangPlan none = plan_gang(gang_on({{"n98", 1}, {"n99", 1}}), cluster());
  EXPECT_THAT(none.reasons.at(0), HasSubstr("no node that its queue assigned may be used"));
}

TEST(AssignedPlan, WithFewerPlacesThanServersDoesntFit) {
  Gang gang = gang_on({{"n2", 1}, {"n9", 1}});
  gang.assigned = Servers{{"n2", 1}};
  EXPECT_THAT(plan_gang(gang, cluster()).reasons.at(0), HasSubstr("assigned have room for 1"));
  gang.assigned = Servers{{"n2", 3}};
  EXPECT_THAT(plan_gang(gang, cluster()).nodes, ElementsAre("n2", "n2")) << "more places do no harm";
}

TEST(AssignedPlan, InTwoRacksIsNoneInsideOne) {
  Gang gang = gang_on({{"n2", 1}, {"n9", 1}});
  gang.within = 0;
  EXPECT_THAT(
      plan_gang(gang, cluster()).reasons.at(0),
      HasSubstr("inside one rack; r0 has room for 1, r2 has room for 1; its queue has to assign others"));
}

TEST(AssignedPlan, KeepsRoomOnNoOtherNodes) {
  Snapshot on = cluster();
  occupy(on, "n9");
  on.pods.back().job = "team/other";
  const auto kept = reserve(gang_on({{"n2", 1}, {"n9", 1}}), on);
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->nodes, UnorderedElementsAre("n2", "n9"));
}

TEST(AssignedPlan, IsOfAClassOfItsOwn) {
  const Gang gang = gang_on({{"n2", 1}, {"n9", 1}});
  Gang others = gang, free = gang;
  others.assigned = Servers{{"n3", 1}, {"n9", 1}};
  free.assigned.reset();
  EXPECT_NE(demand_class(gang), demand_class(others));
  EXPECT_NE(demand_class(gang), demand_class(free));
  Snapshot on = cluster();
  for (const NodeState& node : on.nodes)
    on.left.push_back({node.allocatable, node.allocatable, node.allocatable});
  EXPECT_EQ(ClassRoom(gang, on).could_fit(on).gangs, 1);
  EXPECT_EQ(ClassRoom(free, on).could_fit(on).gangs, 24);
  on.left[9].free = Resources({{"cpu", 999}, {"pods", 110}});
  EXPECT_EQ(ClassRoom(gang, on).could_fit(on).gangs, 0);
  EXPECT_TRUE(ClassRoom(gang, on).could_ever());
}

// The launcher's node.

TEST(AssignedLauncher, TakesItsRoomBesideServersOnItsNode) {
  Gang gang = gang_on({{"n0", 4}, {"n1", 4}});
  gang.launcher = Resources({{"cpu", 100}, {"pods", 1}});
  gang.launcher_on = "n5";
  const GangPlan apart = plan_gang(gang, cluster());
  ASSERT_TRUE(apart.fits);
  EXPECT_EQ(apart.launcher, "n5") << "where no server may be";
  gang.launcher_on = "n0";
  const GangPlan together = plan_gang(gang, cluster());
  EXPECT_FALSE(together.fits) << "n0 has room for three servers beside it";
  EXPECT_THAT(together.reasons.at(0),
              HasSubstr("a launcher (0.1 cpu on n0); there is room only for the servers"));
  gang = gang_on({{"n0", 3}, {"n1", 4}});
  gang.launcher = Resources({{"cpu", 100}, {"pods", 1}});
  gang.launcher_on = "n0";
  EXPECT_TRUE(plan_gang(gang, cluster()).fits);
}

TEST(AssignedLauncher, IsPartOfAClassOfDemand) {
  Gang one = gang_on({{"n0", 1}}), other = one;
  other.launcher_on = "n1";
  EXPECT_NE(demand_class(one), demand_class(other));
}

TEST(AssignedLauncher, OnAFullOrMissingNodeKeepsAllFromStarting) {
  Snapshot full = cluster();
  occupy(full, "n5");
  Gang gang = gang_on({{"n0", 1}});
  gang.launcher = Resources({{"cpu", 100}, {"pods", 1}});
  gang.launcher_on = "n5";
  EXPECT_FALSE(plan_gang(gang, full).fits);
  gang.launcher_on = "n99";
  EXPECT_FALSE(plan_gang(gang, cluster()).fits);
}

TEST(AssignedLauncher, HasRoomKeptOnItsNode) {
  Gang gang = gang_on({{"n0", 1}, {"n1", 1}});
  gang.launcher = Resources({{"cpu", 100}, {"pods", 1}});
  gang.launcher_on = "n1";
  const auto reservation = reserve(gang, cluster());
  ASSERT_TRUE(reservation);
  for (const PodState& pod : reservation->room)
    EXPECT_EQ(pod.requests.of("cpu"), pod.where() == "n1" ? 1100 : 1000) << pod.where();
}

}  // namespace
}  // namespace atl::ctl
