// Jobs that were never started, and whose pods have a size that was chosen for nodes which are gone.
#include "operator_controller/jobs_on_gpus.h"
#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr int kPatience = 1800;

/// Strangers fill the nodes, which have four GPUs each, so the job's pods get four ranks and wait. Then the
/// strangers go, and with them all GPUs but two of each node.
void wait_for_lost_nodes(World& world) {
  equip(world, 4);
  for (const auto& [name, node] : world.cluster.nodes) world.cluster.occupy(name, 8000, "app-" + name);
  world.atoll.submit(job_on_gpus());
  world.atoll.run(20);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
  for (const auto& [name, node] : world.cluster.nodes) world.cluster.pods.erase("app-" + name);
  equip(world, 2);
}

TEST(PodSizeAnew, IsChosenWhereNoNodeForTheOldOneComesBack) {
  live([](World& world) {
    wait_for_lost_nodes(world);
    world.atoll.run(kPatience - 100);
    EXPECT_EQ(world.atoll.status().pod_size.ranks, 4) << "they may come back";
    EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom");
    ASSERT_TRUE(world.atoll.status().pod_size_gone);
    const std::string since = text_of(*world.atoll.status().pod_size_gone);
    world.atoll.run(400, [&] { return world.trains(); });
    const Status status = world.atoll.status();
    EXPECT_EQ(status.pod_size.ranks, 2);
    EXPECT_THAT(
        status.pod_size.reason,
        AllOf(StartsWith("4 ranks in 2 pods of 2: node n1 has 2 nvidia.com/gpu"),
              HasSubstr("before, pods were to have 4 ranks, which no nodes could hold since " + since)));
    EXPECT_FALSE(status.pod_size_gone);
    EXPECT_THAT(gpus_of_workers(world), ElementsAre(2, 2));
    EXPECT_THAT(told_to_pods(world), ElementsAre(2));
    EXPECT_GE(world.cluster.prepares, 2) << "what was found is of pods of another size";
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
  });
}

TEST(PodSizeAnew, IsWrittenNoMoreThanItChanges) {
  World world;
  wait_for_lost_nodes(world);
  world.atoll.run(100);
  ASSERT_TRUE(world.atoll.status().pod_size_gone);
  const int writes = world.atoll.writes;
  world.atoll.run(1000);
  EXPECT_EQ(world.atoll.writes, writes);
  Observed seen = world.atoll.observe("cora");
  EXPECT_FALSE(world.atoll.decide_on(seen).status) << "what was decided, written and read is decided again";
}

TEST(PodSizeAnew, IsNotChosenWhereOneComesBackInTime) {
  World world;
  wait_for_lost_nodes(world);
  world.atoll.run(kPatience - 100);
  for (int again = 0; again < 2; ++again) {
    world.cluster.nodes["n3"].gpus = 4;
    world.cluster.occupy("n3", 8000, "app");
    world.cluster.is_changed = true;
    world.atoll.run(100);
    EXPECT_FALSE(world.atoll.status().pod_size_gone) << "one that others use counts: they go again";
    world.cluster.pods.erase("app");
    world.cluster.nodes["n3"].gpus = 2;
    world.cluster.is_changed = true;
    world.atoll.run(kPatience - 200);
  }
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4) << "each time counts from its own beginning";
}

/// What came and went meanwhile, nobody has watched.
TEST(PodSizeAnew, IsNotChosenForTheTimeBeforeASuspension) {
  World world;
  wait_for_lost_nodes(world);
  world.atoll.run(100);
  ASSERT_TRUE(world.atoll.status().pod_size_gone);
  world.suspend(true);
  world.atoll.run(2 * kPatience);
  EXPECT_FALSE(world.atoll.status().pod_size_gone);
  world.suspend(false);
  world.atoll.run(200);
  EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom");
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
}

/// Then there is no better size either, and whatever comes first may be right.
TEST(PodSizeAnew, IsNotChosenWhereThereAreNoNodesAtAll) {
  World world;
  wait_for_lost_nodes(world);
  equip(world, 0);
  world.atoll.run(2 * kPatience);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
  equip(world, 4);
  world.until_training();
  expect_one_pod(world);
}

TEST(PodSizeAnew, IsNotChosenWhileAnAutoscalerIsAskedForNodes) {
  World world;
  wait_for_lost_nodes(world);
  world.atoll.run(kPatience - 100);
  const auto chosen = [&](bool is_asked) {
    Observed seen = world.atoll.observe("cora");
    seen.now += Seconds(200);
    set_condition(seen.job.status.conditions, {kNodesRequested, is_asked, "NoNodes", "", seen.now, 1});
    std::erase_if(seen.pods, [](const PodView&) { return true; });  // those of the old size
    const Decision decision = decide(seen, world.atoll.settings);
    return decision.status ? decision.status->pod_size.ranks : 4;
  };
  world.atoll.settings.scale_up = ScaleUp::kPlaceholders;
  EXPECT_EQ(chosen(true), 4);
  EXPECT_EQ(chosen(false), 2);
}

TEST(PodSizeAnew, IsNotChosenForAJobThatHasRun) {
  World world;
  equip(world, 4);
  world.cluster.training.seconds = 100;
  world.atoll.submit(job_on_gpus());
  world.until_training();
  equip(world, 2);
  world.kill_node(node_of(world.cluster.pods.at("cora-0-0")));
  world.atoll.run(2 * kPatience);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4) << "its graph and its checkpoints are of that size";
  EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom");
}

/// The flavor's selectors aren't known before the queue admits the job.
TEST(PodSizeAnew, IsChosenWhereTheFlavorHasSmallerNodes) {
  live_queued([](QueueWorld& world) {
    equip(world, 2);
    world.cluster.nodes["n1"].gpus = 4;
    world.cluster.nodes["n1"].labels["pool"] = "large";
    json job = job_on_gpus();
    job["metadata"]["labels"][kQueueLabel] = "team-queue";
    world.atoll.submit(job);
    world.atoll.run(60);
    EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
    EXPECT_EQ(world.kueue.workload().at("spec").at("podSets").at(0).at("count"), 1);
    world.atoll.run(kPatience + 200, [&] { return world.trains(); });
    EXPECT_EQ(world.atoll.status().pod_size.ranks, 2);
    EXPECT_EQ(world.kueue.workload().at("spec").at("podSets").at(0).at("count"), 2);
    EXPECT_THAT(gpus_of_workers(world), ElementsAre(2, 2));
    world.run_to_end();
    expect_success(world);
  });
}

}  // namespace
}  // namespace atl::ctl
