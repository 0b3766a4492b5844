// Whether new nodes would help a gang that doesn't fit; and pods that hold room only until somebody needs it.
#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

NodeState node(const std::string& name) {
  NodeState state;
  state.name = name;
  state.labels = {{kHostnameLabel, name}, {"zone", "a"}};
  state.ready = true;
  state.allocatable = Resources({{"cpu", 4000}, {"pods", 10}});
  return state;
}

/// Servers that fill a node each.
Gang gang_of_four() {
  Gang gang{.job = "team/cora"};
  gang.servers = {{0}, {1}, {2}, {3}};
  gang.server = Resources({{"cpu", 4000}, {"pods", 1}});
  gang.traffic = Traffic::uniform(4, 1);
  gang.levels = {kHostnameLabel};
  gang.weights = {1};
  return gang;
}

GangPlan planned(const Gang& gang) {
  Snapshot snapshot;
  snapshot.nodes = {node("n1"), node("n2")};
  GangPlan plan = plan_gang(gang, snapshot);
  EXPECT_FALSE(plan.fits);
  return plan;
}

TEST(NewNodes, HelpWhereTooFewHaveRoom) {
  EXPECT_TRUE(planned(gang_of_four()).would_nodes_help);
}

TEST(NewNodes, HelpWhereNoNodeMayBeUsed) {
  Gang gang = gang_of_four();
  gang.filter.selector = {{"gpu", "In", {"yes"}, false}};
  EXPECT_TRUE(planned(gang).would_nodes_help) << "a pool that has shrunk to nothing";
}

TEST(NewNodes, DoNotHelpWhereTheTemplateNamesNodes) {
  Gang gang = gang_of_four();
  gang.filter.selector = {{kHostnameLabel, "In", {"n1"}, false}};
  EXPECT_FALSE(planned(gang).would_nodes_help);
}

TEST(NewNodes, DoNotHelpWhereAQueueHasAssignedNodes) {
  Gang gang = gang_of_four();
  gang.assigned = std::map<std::string, int>{{"n1", 2}, {"n2", 2}};
  EXPECT_FALSE(planned(gang).would_nodes_help);
}

TEST(NewNodes, MustBeWhereTheVolumesAre) {
  Gang gang = gang_of_four();
  const LabelRule zone{"zone", "In", {"a"}, false};
  const std::vector<LabelRule> term{zone};
  GangVolume volume{"datasets", Mounters::kServers};
  volume.place.terms = {term};
  gang.volumes = {volume};
  const GangPlan plan = planned(gang);
  EXPECT_TRUE(plan.would_nodes_help);
  ASSERT_EQ(plan.reach.size(), 1U);
  EXPECT_EQ(plan.reach[0][0][0].key, "zone");
  const LabelRule disk{kHostnameLabel, "In", {"n1"}, false};
  const std::vector<LabelRule> local{disk};
  gang.volumes[0].place.terms = {local};
  EXPECT_FALSE(planned(gang).would_nodes_help) << "its disk is in one node";
}

TEST(NewNodes, OfServerZeroMustBeWhereItsOutputIs) {
  Gang gang = gang_of_four();
  const LabelRule zone{"zone", "In", {"b"}, false};
  const std::vector<LabelRule> term{zone};
  GangVolume volume{"results", Mounters::kFirstServer};
  volume.place.terms = {term};
  gang.volumes = {volume};
  EXPECT_EQ(planned(gang).reach.size(), 0U);
  ASSERT_EQ(planned(gang).first_reach.size(), 1U);
  EXPECT_EQ(planned(gang).first_reach[0][0][0].values, std::vector<std::string>{"b"});
  gang.servers = {{1}, {2}, {3}, {4}};
  EXPECT_EQ(planned(gang).first_reach.size(), 0U) << "server 0 stands";
}

/// A gang whose output is on a disk of the node n1.
Gang gang_with_output_on_n1() {
  Gang gang = gang_of_four();
  const LabelRule disk{kHostnameLabel, "In", {"n1"}, false};
  const std::vector<LabelRule> term{disk};
  GangVolume volume{"results", Mounters::kFirstServer};
  volume.place.terms = {term};
  gang.volumes = {volume};
  return gang;
}

TEST(NewNodes, DoNotHelpWhereTheOneNodeOfTheOutputIsFull) {
  Gang gang = gang_with_output_on_n1();
  Snapshot snapshot;
  snapshot.nodes = {node("n1"), node("n2")};
  EXPECT_TRUE(plan_gang(gang, snapshot).would_nodes_help) << "server 0 has a place, and others lack one";
  PodState stranger;
  stranger.name = "other/stranger";
  stranger.node = "n1";
  stranger.requests = Resources({{"cpu", 1000}, {"pods", 1}});
  snapshot.pods = {stranger};
  EXPECT_FALSE(plan_gang(gang, snapshot).would_nodes_help);
  gang.servers = {{1}, {2}, {3}, {4}};
  EXPECT_TRUE(plan_gang(gang, snapshot).would_nodes_help) << "server 0 stands";
}

/// The gang in a cluster of two zones, one of which has a node without the label of its rack.
GangPlan planned_in_one_rack(Gang gang) {
  gang.levels = {"zone", "rack", kHostnameLabel};
  gang.weights = {100, 10, 1};
  gang.within = 1;
  Snapshot snapshot;
  snapshot.nodes = {node("n1"), node("n2"), node("n3")};
  snapshot.nodes[0].labels["rack"] = "r1";
  snapshot.nodes[1].labels["rack"] = "r1";
  snapshot.nodes[1].labels["zone"] = "b";
  return plan_gang(gang, snapshot);
}

TEST(NewNodes, MayBeInAnyDomainThatTheGangCouldUse) {
  const GangPlan plan = planned_in_one_rack(gang_of_four());
  ASSERT_FALSE(plan.fits);
  std::vector<std::string> domains;
  for (const auto& domain : plan.domains) {
    std::string words;
    for (const LabelRule& rule : domain) words += (words.empty() ? "" : ", ") + text(rule);
    domains.push_back(words);
  }
  ASSERT_EQ(domains.size(), 4U);
  EXPECT_EQ(plan.domains[0][1].comparison, "DoesNotExist") << "zone a, without rack";
  EXPECT_EQ(domains[1], "zone In [a], rack In [r1]");
  EXPECT_EQ(domains[2], "zone In [b], rack In [r1]");
  EXPECT_EQ(plan.domains[3][0].comparison, "NotIn") << "a new one";
  EXPECT_EQ(plan.domains[3][1].comparison, "Exists");
}

TEST(NewNodes, AreInTheDomainOfTheOutput) {
  EXPECT_EQ(planned_in_one_rack(gang_with_output_on_n1()).domains.size(), 1U);
}

json pod(const char* role, int priority) {
  json made = parse_json(R"({"metadata": {"name": "p", "namespace": "team", "labels": {}},
      "spec": {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "4"}}}]}})");
  made["metadata"]["labels"] = {{"atoll.dev/role", role}, {"atoll.dev/job", "other"}};
  made["spec"]["priority"] = priority;
  made["spec"]["terminationGracePeriodSeconds"] = 0;
  return made;
}

/// Whether a gang finds room on a node that this pod fills.
bool fits_beside(const json& other) {
  Gang gang = gang_of_four();
  gang.servers = {{0}};
  gang.traffic = Traffic::uniform(1, 1);
  Snapshot snapshot;
  snapshot.nodes = {node("n1")};
  snapshot.pods = {pod_state(other)};
  return plan_gang(gang, snapshot).fits;
}

TEST(NewNodes, APlaceholderTakesNoRoomIfTheSchedulerWouldTakeIts) {
  EXPECT_TRUE(fits_beside(pod("placeholder", -10)));
  EXPECT_FALSE(fits_beside(pod("placeholder", 0))) << "a label alone makes no room";
  EXPECT_FALSE(fits_beside(pod("worker", -10)));
}

TEST(NewNodes, APodThatTakesItsTimeToGoIsNoPlaceholder) {
  json slow = pod("placeholder", -10), held = slow, of_nobody = slow;
  slow["spec"]["terminationGracePeriodSeconds"] = 3600;
  EXPECT_FALSE(fits_beside(slow)) << "each gang would be pinned there, and withdrawn, for an hour";
  slow["spec"].erase("terminationGracePeriodSeconds");
  EXPECT_FALSE(fits_beside(slow));
  held["metadata"]["finalizers"] = json::array({"example.com/mine"});
  EXPECT_FALSE(fits_beside(held));
  of_nobody["metadata"]["labels"].erase("atoll.dev/job");
  EXPECT_FALSE(fits_beside(of_nobody)) << "the label of jobs is the one that is guarded";
}

}  // namespace
}  // namespace atl::ctl
