// Jobs to whose pods Kueue assigned nodes (topology-aware scheduling): they run where they were put and say
// so, and move where Kueue moves a place.
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>

#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Assigned = std::map<std::string, int>;

/// Sorted; of pods that aren't on their way out.
std::vector<std::string> nodes_of(const World& world, const char* role) {
  std::vector<std::string> nodes;
  for (const auto& name : world.cluster.pods_of("cora", role)) {
    const json& pod = world.cluster.pods.at(name);
    if (!pod.at("metadata").contains("deletionTimestamp")) nodes.push_back(node_of(pod));
  }
  std::ranges::sort(nodes);
  return nodes;
}

void assign(QueueWorld& world, const Assigned& workers, const Assigned& launcher) {
  world.kueue.assigns = {{kWorkerPods, workers}, {kLauncherPods, launcher}};
}

TEST(QueueNodes, AreUsedThoughNobodyAskedForThem) {
  live_queued([](QueueWorld& world) {
    assign(world, {{"n2", 1}, {"n3", 1}}, {{"n4", 1}});
    world.atoll.submit(queued_job());
    world.until_training();
    EXPECT_THAT(nodes_of(world, kWorkerRole), ElementsAre("n2", "n3"));
    EXPECT_THAT(nodes_of(world, kLauncherRole), ElementsAre("n4"));
    EXPECT_THAT(condition(world, kPlaced).message, HasSubstr("which its queue assigned"));
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
  });
}

TEST(QueueNodes, MayTakeSeveralServersAndTheLauncher) {
  QueueWorld world;
  world.cluster.nodes["n3"].cores = 8000;
  assign(world, {{"n3", 2}}, {{"n3", 1}});
  world.atoll.submit(queued_job());
  world.until_training();
  EXPECT_THAT(nodes_of(world, kWorkerRole), ElementsAre("n3", "n3"));
  EXPECT_THAT(nodes_of(world, kLauncherRole), ElementsAre("n3"));
}

TEST(QueueNodes, PodsSayOfWhichSetAndWorkloadTheyAre) {
  QueueWorld world;
  world.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  assign(world, {{"n3", 1}, {"n4", 1}}, {{"n1", 1}});
  world.atoll.submit(job_in_one_rack());
  const auto says = [&](const std::string& name, const char* set, const char* topology, const char* value) {
    const json& metadata = world.cluster.pods.at(name).at("metadata");
    EXPECT_EQ(metadata.at("labels").at("kueue.x-k8s.io/podset"), set) << name;
    EXPECT_EQ(metadata.at("annotations").at("kueue.x-k8s.io/workload"), "gnnjob-cora") << name;
    EXPECT_EQ(metadata.at("annotations").at(topology), value) << name;
  };
  world.atoll.run(60, [&] { return world.cluster.pods.contains("cora-prepare"); });
  says("cora-prepare", "worker", "kueue.x-k8s.io/podset-required-topology", "rack");
  const json affinity = world.cluster.pods.at("cora-prepare").at("spec").at("affinity").at("nodeAffinity");
  EXPECT_THAT(affinity.dump(),
              HasSubstr(R"("key":"kubernetes.io/hostname","operator":"In","values":["n3","n4"])"));
  world.until_training();
  for (const char* name : {"cora-0-0", "cora-1-0"})
    says(name, "worker", "kueue.x-k8s.io/podset-required-topology", "rack");
  says("cora-launcher-1", "launcher", "kueue.x-k8s.io/podset-unconstrained-topology", "true");
  EXPECT_EQ(pin_of(world.cluster.pods.at("cora-launcher-1")), "n1");
}

TEST(QueueNodes, MpiOperatorsPodsUseThemToo) {
  live_queued([](QueueWorld& world) {
    assign(world, {{"n2", 1}, {"n3", 1}}, {{"n4", 1}});
    json job = queued_job();
    job["spec"]["launcher"] = "mpijob";
    world.atoll.submit(job);
    world.until_training();
    EXPECT_THAT(nodes_of(world, kWorkerRole), ElementsAre("n2", "n3"));
    EXPECT_THAT(nodes_of(world, kLauncherRole), ElementsAre("n4"));
    world.run_to_end();
    expect_success(world);
  });
}

// A node is lost.

TEST(QueueNodes, WhereOneIsLostTheJobGoesOnWhereKueueMovesItsPlace) {
  live_queued([](QueueWorld& world) {
    assign(world, {{"n1", 1}, {"n3", 1}}, {{"n1", 1}});
    world.kueue.spares = {"n4"};
    world.atoll.submit(queued_job());
    world.until_training();
    world.kill_node("n3");
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.kueue.assigns.at(kWorkerPods), ElementsAre(Pair("n1", 1), Pair("n4", 1)));
    EXPECT_EQ(world.atoll.status().failures, 0);
    EXPECT_GE(world.atoll.status().disruptions, 1);
  });
}

TEST(QueueNodes, WhereTheLaunchersIsLostTheWorkersStay) {
  QueueWorld world;
  assign(world, {{"n1", 1}, {"n2", 1}}, {{"n4", 1}});
  world.kueue.spares = {"n3"};
  world.atoll.submit(queued_job());
  world.until_training();
  world.kill_node("n4");
  world.atoll.run(300, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_THAT(nodes_of(world, kWorkerRole), ElementsAre("n1", "n2"));
  EXPECT_THAT(world.kueue.assigns.at(kLauncherPods), ElementsAre(Pair("n3", 1)));
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.atoll.status().failures, 0);
}

TEST(QueueNodes, WhereOneIsLostAnotherIsWaitedFor) {
  QueueWorld world;
  assign(world, {{"n1", 1}, {"n3", 1}}, {{"n1", 1}});
  world.atoll.submit(queued_job());
  world.until_training();
  world.kill_node("n3");
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "NoRoom"; });
  EXPECT_THAT(condition(world, kPlaced).message,
              AllOf(HasSubstr("no node that its queue assigned may be used"), HasSubstr("n3 is not ready")));
  for (const auto& name : world.cluster.pods_of("cora", kWorkerRole)) {
    const json& pod = world.cluster.pods.at(name);
    EXPECT_TRUE(!node_of(pod).empty() || is_gated(read_pod(pod.dump()))) << name << " waits, gated";
  }
  world.kueue.workload()["status"]["unhealthyNodes"] = json::array({{{"name", "n3"}}});
  world.cluster.is_changed = true;
  world.atoll.run(3);
  EXPECT_THAT(condition(world, kPlaced).message, HasSubstr("its queue looks for nodes instead of n3"));
  world.kueue.workload()["status"].erase("unhealthyNodes");
  world.kueue.spares = {"n2"};
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.atoll.status().failures, 0);
}

TEST(QueueNodes, APodThatKueueEndsIsNoFailure) {
  QueueWorld world;
  assign(world, {{"n1", 1}, {"n3", 1}}, {{"n1", 1}});
  bool is_silent = true;  // the scheduler, on that pod
  world.cluster.hinder = [&](const json& pod) -> std::optional<std::string> {
    if (is_silent && pod.at("metadata").at("name") == "cora-1-0") return "";
    return std::nullopt;
  };
  world.atoll.submit(queued_job());
  const auto pin = [&] {
    const auto found = world.cluster.pods.find("cora-1-0");
    return found == world.cluster.pods.end() ? "" : pin_of(found->second);
  };
  world.atoll.run(60, [&] { return !pin().empty(); });
  ASSERT_THAT(pin(), testing::AnyOf("n1", "n3"));
  const std::string node = pin();
  world.cluster.nodes.at("n3").is_cordoned = node == "n3";
  world.cluster.nodes.at("n1").is_cordoned = node == "n1";
  world.kueue.spares = {"n2", "n4"};
  is_silent = false;
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.atoll.status().failures, 0);
  EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
}

TEST(QueueNodes, ThatDontExistAnyMoreAreWaitedFor) {
  QueueWorld world;
  assign(world, {{"n2", 1}, {"n9", 1}}, {{"n2", 1}});
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "NoRoom"; });
  EXPECT_THAT(condition(world, kPlaced).message, HasSubstr("n9 does not exist"));
  world.kueue.spares = {"n3"};
  world.run_to_end();
  expect_success(world);
}

// What can't be used.

TEST(QueueNodes, ArentHeededWhereTheTopologyEndsAboveThem) {
  QueueWorld world;
  world.kueue.lowest_level = "rack";
  assign(world, {{"r1", 2}}, {{"r1", 1}});
  world.atoll.submit(queued_job());
  world.until_training();
  EXPECT_THAT(condition(world, kPlaced).message, AllOf(HasSubstr("domains of rack, which aren't heeded"),
                                                       HasSubstr("not kubernetes.io/hostname")));
  const json& metadata = world.cluster.pods.at("cora-0-0").at("metadata");
  EXPECT_EQ(metadata.at("annotations").at("kueue.x-k8s.io/podset-unconstrained-topology"), "true")
      << "Kueue has counted it in its domain";
  EXPECT_FALSE(metadata.at("labels").contains(kPodSetLabel))
      << "it would be ended on a node that isn't assigned";
  world.run_to_end();
  expect_success(world);
}

TEST(QueueNodes, ForAnotherNumberOfPodsAreRefused) {
  QueueWorld world;
  assign(world, {{"n1", 1}, {"n2", 2}}, {{"n1", 1}});
  world.atoll.submit(queued_job());
  world.atoll.run(30);
  EXPECT_THAT(
      condition(world, kSuspended).message,
      HasSubstr(
          "assigned places to 3 pods of the set worker, and the job has 2 (delete Workload gnnjob-cora"));
  EXPECT_THAT(world.cluster.pods, IsEmpty());
}

TEST(QueueNodes, InTwoRacksWaitWhereThePlacementWantsOne) {
  QueueWorld world;
  assign(world, {{"n1", 1}, {"n3", 1}}, {{"n1", 1}});
  world.atoll.submit(job_in_one_rack());
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "NoRoom"; });
  EXPECT_THAT(
      condition(world, kPlaced).message,
      HasSubstr("inside one rack; r1 has room for 1, r2 has room for 1; its queue has to assign others"));
}

// An assignment that changes.

/// As after an update of an operator that didn't heed it, or of Kueue.
TEST(QueueNodes, ThatComeWhileRanksRunAreUsedFromTheNextAttemptOn) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.until_training();
  const auto before = nodes_of(world, kWorkerRole);
  std::set<std::string> others = {"n1", "n2", "n3", "n4"};
  for (const std::string& node : before) others.erase(node);
  ASSERT_EQ(others.size(), 2u);
  assign(world, {{*others.begin(), 1}, {*others.rbegin(), 1}}, {{*others.begin(), 1}});
  for (json& set : world.kueue.workload()["status"]["admission"]["podSetAssignments"])
    set["topologyAssignment"] =
        topology_assignment(world.kueue.assigns.at(set.at("name").get<std::string>()), kHostnameLabel);
  world.cluster.is_changed = true;
  world.atoll.run(3);
  EXPECT_TRUE(world.trains());
  EXPECT_EQ(nodes_of(world, kWorkerRole), before) << "an attempt that runs is left alone";
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(120, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(nodes_of(world, kWorkerRole), std::vector<std::string>(others.begin(), others.end()));
  world.run_to_end();
  expect_success(world);
}

TEST(QueueNodes, APlanOfEarlierOnesIsMadeAgain) {
  QueueWorld world;
  assign(world, {{"n3", 1}, {"n4", 1}}, {{"n1", 1}});
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return world.cluster.prepares > 0; });
  world.cluster.occupy("n3", 4000, "stranger-3");
  world.cluster.occupy("n4", 4000, "stranger-4");
  world.atoll.run(20);
  ASSERT_EQ(condition(world, kPlaced).reason, "NoRoom");
  for (const char* stranger : {"stranger-3", "stranger-4"}) world.cluster.pods.erase(stranger);
  Observed seen = world.atoll.observe("cora");
  set_condition(seen.job.status.conditions, {kPlaced, true, "Planned", "", world.cluster.now, 1});
  seen.job.status.servers = {{"n1", {0, 1}, ""}, {"n2", {2, 3}, ""}};
  const Decision decision = world.atoll.decide_on(seen);
  std::vector<std::string> pins;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage)
      if (write.verb == Write::Verb::kPatch && write.kind == Kind::kPod)
        pins.push_back(pinned_by(write.body));
  EXPECT_THAT(pins, testing::UnorderedElementsAre("n3", "n4", "n1")) << "the launcher, too";
}

}  // namespace
}  // namespace atl::ctl
