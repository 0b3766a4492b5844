// The launcher and the prepare pod of jobs to whose pods Kueue assigned nodes.
#include <gmock/gmock.h>

#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

void assign(QueueWorld& world, const std::map<std::string, int>& workers,
            const std::map<std::string, int>& launcher) {
  world.kueue.assigns = {{kWorkerPods, workers}, {kLauncherPods, launcher}};
}

/// Of workers that aren't on their way out.
int released_workers(const World& world) {
  int count = 0;
  for (const auto& name : world.cluster.pods_of("cora", kWorkerRole)) {
    const json& pod = world.cluster.pods.at(name);
    count += !is_gated(read_pod(pod.dump())) && !pod.at("metadata").contains("deletionTimestamp");
  }
  return count;
}

int bound_workers(const World& world) {
  int count = 0;
  for (const auto& name : world.cluster.pods_of("cora", kWorkerRole))
    count += !node_of(world.cluster.pods.at(name)).empty();
  return count;
}

TEST(QueueLauncher, WithoutRoomOnItsNodeKeepsWorkersFromTakingTheirs) {
  QueueWorld world;
  assign(world, {{"n2", 1}, {"n3", 1}}, {{"n4", 1}});
  world.cluster.occupy("n4", 4000, "stranger");
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "NoRoom"; });
  EXPECT_THAT(condition(world, kPlaced).message,
              AllOf(HasSubstr("a launcher"), HasSubstr("on n4"), HasSubstr("room only for the servers")));
  world.atoll.run(30);
  EXPECT_EQ(released_workers(world), 0);
  world.cluster.pods.erase("stranger");
  world.run_to_end();
  expect_success(world);
}

TEST(QueueLauncher, OnANodeThatCantBeUsedIsNamedBeforeWorkersStart) {
  QueueWorld world;
  assign(world, {{"n2", 1}, {"n3", 1}}, {{"n4", 1}});
  world.cluster.nodes.at("n4").is_cordoned = true;
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "NoRoom"; });
  EXPECT_THAT(condition(world, kPlaced).message,
              HasSubstr("n4, which its queue assigned to the launcher, is cordoned"));
  EXPECT_EQ(released_workers(world), 0);
  world.kueue.spares = {"n1"};
  world.run_to_end();
  expect_success(world);
}

/// Kueue keeps the node while one of the job's pods stands there.
TEST(QueueLauncher, WhoseNodeIsCordonedUnderAWorkerIsWaitedForNoLongerThanAStart) {
  QueueWorld world;
  assign(world, {{"n2", 1}, {"n3", 1}}, {{"n3", 1}});
  world.atoll.submit(queued_job());
  world.atoll.run(120, [&] { return bound_workers(world) == 2; });
  world.cluster.nodes.at("n3").is_cordoned = true;
  world.atoll.run(60, [&] { return condition(world, kRunning).reason == "NoRoom"; });
  ASSERT_EQ(condition(world, kRunning).reason, "NoRoom");
  EXPECT_THAT(condition(world, kRunning).message,
              HasSubstr("n3, which its queue assigned to the launcher, is cordoned"));
  world.kueue.spares = {"n4", "n4"};
  world.atoll.run(500);
  EXPECT_EQ(released_workers(world), 2) << "until the deadline";
  world.run_to_end();
  expect_success(world);
  EXPECT_THAT(world.kueue.assigns.at(kLauncherPods), Not(testing::Contains(testing::Key("n3"))));
  EXPECT_EQ(world.atoll.status().failures, 0);
}

// The prepare pod.

TEST(QueueLauncher, ThePreparePodFollowsTheAssignmentUntilItHasANode) {
  QueueWorld world;
  assign(world, {{"n3", 1}, {"n4", 1}}, {{"n1", 1}});
  world.cluster.occupy("n3", 4000, "stranger-3");
  world.cluster.nodes.at("n4").is_cordoned = true;
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "Unschedulable"; });
  ASSERT_TRUE(world.cluster.pods.contains("cora-prepare"));
  world.kueue.spares = {"n2"};
  world.atoll.run(60, [&] { return world.cluster.prepares > 0; });
  EXPECT_EQ(world.cluster.prepares, 1) << "on the node that came instead";
  world.cluster.pods.erase("stranger-3");
  world.run_to_end();
  expect_success(world);
}

TEST(QueueLauncher, NoPreparePodIsMadeWhileEveryNodeIsToBeReplaced) {
  QueueWorld world;
  assign(world, {{"n3", 1}, {"n4", 1}}, {{"n1", 1}});
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return world.kueue.has_workload(); });
  world.atoll.is_down = true;
  world.atoll.run(3);
  ASSERT_TRUE(world.kueue.read().has_admission);
  world.atoll.is_down = false;
  world.kueue.workload()["status"]["unhealthyNodes"] = json::array({{{"name", "n3"}}, {{"name", "n4"}}});
  world.cluster.is_changed = true;
  world.atoll.run(30);
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  EXPECT_THAT(condition(world, kPlaced).message, HasSubstr("its queue looks for nodes instead of n3, n4"));
  world.kueue.workload()["status"].erase("unhealthyNodes");
  world.cluster.is_changed = true;
  world.run_to_end();
  expect_success(world);
}

}  // namespace
}  // namespace atl::ctl
