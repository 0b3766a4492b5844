// Jobs on GPUs whose manifests don't say how many ranks share a pod: the nodes decide, once, and everything
// that is made of the job says the same.
#include "operator_controller/jobs_on_gpus.h"
#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(PodSizeOfAJob, IsANodesWhereThatHasAllItsGpus) {
  World world;
  equip(world, 4);
  world.atoll.submit(job_on_gpus());
  world.until_training();
  expect_one_pod(world);
  EXPECT_EQ(world.atoll.status().pod_size.reason, "4 ranks in 1 pod: node n1 has 4 nvidia.com/gpu");
  const Condition placed = condition(world, kPlaced);
  EXPECT_THAT(placed.message, testing::Not(HasSubstr("NVLink"))) << "nothing is to be mended";
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1);
}

/// Also where the operator dies between the choice and what is made by it.
TEST(PodSizeOfAJob, IsTheSameWhateverTheOperatorSurvives) {
  live([](World& world) {
    equip(world, 4);
    world.atoll.submit(job_on_gpus());
    world.until_training();
    expect_one_pod(world);
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
  });
}

TEST(PodSizeOfAJob, IsWrittenBeforeAnythingIsMadeAndOutlivesTheNodes) {
  World world;
  equip(world, 4);
  world.atoll.submit(job_on_gpus());
  Observed seen = world.atoll.observe("cora");
  const Decision decision = decide(seen, world.atoll.settings);
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->pod_size.ranks, 4);
  EXPECT_THAT(decision.stages, IsEmpty());
  ASSERT_THAT(decision.events, SizeIs(1));
  EXPECT_EQ(decision.events[0].reason, "PodSizeChosen");
  EXPECT_EQ(decision.events[0].message, "4 ranks in 1 pod: node n1 has 4 nvidia.com/gpu");
  EXPECT_FALSE(decision.events[0].is_warning);

  // The operator dies once that is written; its successor finds smaller nodes.
  world.atoll.job()["status"] = parse_json(write_status(*decision.status));
  equip(world, 2);
  world.atoll.run(100);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
  EXPECT_THAT(gpus_of_workers(world), ElementsAre(4));
  EXPECT_THAT(told_to_pods(world), ElementsAre(4));
  EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom");
  EXPECT_THAT(condition(world, kPlaced).message, HasSubstr("needs 1 server of 4 ranks"));
  world.cluster.nodes["n3"].gpus = 4;
  world.cluster.is_changed = true;
  world.run_to_end();
  expect_success(world);
}

TEST(PodSizeOfAJob, StaysWhereTheNodeIsLostThatItWasChosenFor) {
  World world;
  equip(world, 2);
  world.cluster.nodes["n1"].gpus = 4;
  world.cluster.training.seconds = 100;
  world.atoll.submit(job_on_gpus());
  world.until_training();
  expect_one_pod(world);
  world.cluster.nodes["n4"].gpus = 4;
  world.cluster.nodes["n4"].is_cordoned = true;
  world.kill_node("n1");
  world.atoll.run(100);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
  EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom") << "two ranks a pod would find room on n2 and n3";
  world.cluster.nodes["n4"].is_cordoned = false;
  world.cluster.is_changed = true;
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1);
}

TEST(PodSizeOfAJob, IsTheManifestsWhereThatSaysOne) {
  World world;
  equip(world, 4);
  world.atoll.submit(job_on_gpus({{"/spec/placement", {{"ranks", 4}, {"ranksPerServer", 2}}}}));
  world.until_training();
  EXPECT_EQ(world.atoll.status().pod_size, PodSize());
  EXPECT_THAT(gpus_of_workers(world), ElementsAre(2, 2));
  EXPECT_THAT(told_to_pods(world), ElementsAre(2));
}

TEST(PodSizeOfAJob, IsTheStrategysOnProcessors) {
  World world;
  equip(world, 4);
  world.atoll.submit(sample_job_json({{"/spec/placement", {{"ranks", 4}}}}));
  world.until_training();
  EXPECT_EQ(world.atoll.status().pod_size, PodSize());
  EXPECT_THAT(world.atoll.status().servers, SizeIs(4));
}

/// An operator of an earlier release has begun with it.
TEST(PodSizeOfAJob, IsTheStrategysWhereTheJobWasTakenBefore) {
  World world;
  equip(world, 4);
  json taken = job_on_gpus();
  Status status;
  set_condition(status.conditions, {kPlaced, false, kPreparing, "", world.cluster.now, 1});
  taken["status"] = parse_json(write_status(status));
  EXPECT_FALSE(taken["status"].contains("podSize"));
  world.atoll.submit(taken);
  world.until_training();
  EXPECT_EQ(world.atoll.status().pod_size, PodSize());
  expect_a_pod_for_each_rank(world);
  world.run_to_end();
  expect_success(world);
}

TEST(PodSizeOfAJob, IsOneWhereNoNodeHasMore) {
  World world;
  equip(world, 1);
  world.atoll.submit(job_on_gpus());
  world.until_training();
  EXPECT_EQ(world.atoll.status().pod_size, (PodSize{1, "4 ranks in 4 pods: node n1 has 1 nvidia.com/gpu"}));
  expect_a_pod_for_each_rank(world);
  equip(world, 4);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
}

/// As where an autoscaler has to bring the first of them.
TEST(PodSizeOfAJob, IsChosenOnceThereAreNodesWithGpus) {
  live([](World& world) {
    equip(world, 0);
    world.atoll.submit(job_on_gpus());
    world.atoll.run(60);
    EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom");
    EXPECT_EQ(world.atoll.status().pod_size.ranks, 0);
    EXPECT_THAT(world.atoll.status().pod_size.reason, HasSubstr("no nodes could hold all ranks"));
    EXPECT_THAT(gpus_of_workers(world), ElementsAre(1, 1, 1, 1)) << "what fits any node that may come";
    equip(world, 4);
    world.until_training();
    expect_one_pod(world);
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
  });
}

}  // namespace
}  // namespace atl::ctl
