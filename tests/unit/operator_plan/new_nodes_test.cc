// Whether new nodes would help a gang that doesn't fit; and pods that hold room only until somebody needs it.
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

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

json pod(const char* role, int priority) {
  json made = json::parse(R"({"metadata": {"name": "p", "namespace": "team", "labels": {}},
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
