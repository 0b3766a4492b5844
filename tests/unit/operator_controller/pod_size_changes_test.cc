// When it is chosen how many ranks share a pod, for jobs that are suspended, changed or queued.
#include "operator_controller/jobs_on_gpus.h"
#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::StartsWith;

/// Somebody changes its spec, as the API server counts it.
void change(World& world, const char* pointer, json value) {
  world.atoll.job()[json::json_pointer(pointer)] = std::move(value);
  json& generation = world.atoll.job()["metadata"]["generation"];
  generation = generation.get<int>() + 1;
  world.cluster.is_changed = true;
}

/// A job whose four ranks shared a pod.
void train_and_suspend(World& world) {
  equip(world, 4);
  world.cluster.training.seconds = 100;
  world.atoll.submit(job_on_gpus());
  world.until_training();
  change(world, "/spec/runPolicy", {{"suspend", true}});
  world.atoll.run(60, [&] { return world.atoll.state() == "Suspended"; });
}

TEST(PodSizeChoice, WaitsUntilASuspendedJobIsResumed) {
  World world;
  equip(world, 1);
  world.atoll.submit(job_on_gpus({{"/spec/runPolicy", {{"suspend", true}}}}));
  world.atoll.run(5);
  EXPECT_EQ(world.atoll.state(), "Suspended");
  EXPECT_EQ(world.atoll.status().pod_size, (PodSize{0, "it is chosen when the job is resumed"}));
  equip(world, 4);
  world.suspend(false);
  world.until_training();
  expect_one_pod(world);
}

TEST(PodSizeChoice, IsMadeAnewForASpecThatWasChanged) {
  World world;
  train_and_suspend(world);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4) << "nobody asks for anything else";
  change(world, "/spec/resources/cpu", 3);  // of a node's 8
  world.atoll.run(5);
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 0);
  change(world, "/spec/runPolicy", {{"suspend", false}});
  world.atoll.run(200, [&] { return world.trains(); });
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 2);
  EXPECT_THAT(world.atoll.status().pod_size.reason, StartsWith("4 ranks in 2 pods of 2: node n1 has 4 "));
  EXPECT_THAT(gpus_of_workers(world), ElementsAre(2, 2));
  EXPECT_THAT(told_to_pods(world), ElementsAre(2));
}

TEST(PodSizeChoice, IsGivenUpForWhatTheManifestSays) {
  World world;
  train_and_suspend(world);
  change(world, "/spec/placement", {{"ranks", 4}, {"ranksPerServer", 1}});
  change(world, "/spec/runPolicy", {{"suspend", false}});
  world.atoll.run(200, [&] { return world.trains(); });
  EXPECT_EQ(world.atoll.status().pod_size, PodSize());
  EXPECT_THAT(gpus_of_workers(world), ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(told_to_pods(world), ElementsAre(1));
}

TEST(PodSizeChoice, IsWhatAQueueCounts) {
  live_queued([](QueueWorld& world) {
    equip(world, 4);
    world.kueue.cores = 0;
    json job = job_on_gpus();
    job["metadata"]["labels"][kQueueLabel] = "team-queue";
    world.atoll.submit(job);
    world.atoll.run(20);
    const auto workers = [&] { return world.kueue.workload().at("spec").at("podSets").at(0); };
    EXPECT_EQ(workers().at("count"), 1);
    EXPECT_EQ(requests_of(workers().at("template").at("spec")).of(kGpuResource), 4);
    world.kueue.cores = 8000;
    world.atoll.run(5);
    const json admitted = workers();
    equip(world, 2);
    world.atoll.run(20);
    EXPECT_EQ(workers(), admitted) << "nodes that come or go change nothing";
    EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
    equip(world, 4);
    world.run_to_end();
    expect_success(world);
  });
}

TEST(PodSizeChoice, IsNotMadeOnceAQueueHasAdmittedTheJob) {
  QueueWorld world;
  equip(world, 0);
  json job = job_on_gpus();
  job["metadata"]["labels"][kQueueLabel] = "team-queue";
  world.atoll.submit(job);
  world.atoll.run(60);
  EXPECT_EQ(world.kueue.workload().at("spec").at("podSets").at(0).at("count"), 4);
  equip(world, 4);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.kueue.workload().at("spec").at("podSets").at(0).at("count"), 4);
}

/// The operator died between saying that the job is suspended and giving its place in the queue back.
TEST(PodSizeChoice, IsMadeAnewWhateverTheQueueHadAdmittedBefore) {
  for (const bool is_leaving : {false, true}) {
    QueueWorld world;
    equip(world, 4);
    world.cluster.training.seconds = 100;
    json job = job_on_gpus();
    job["metadata"]["labels"][kQueueLabel] = "team-queue";
    world.atoll.submit(job);
    world.until_training();
    json place = world.kueue.workload();
    if (is_leaving) place["metadata"]["deletionTimestamp"] = text_of(world.cluster.now);
    change(world, "/spec/runPolicy", {{"suspend", true}});
    world.atoll.run(60, [&] { return world.atoll.state() == "Suspended"; });
    world.cluster.objects[{Kind::kWorkload, workload_name("cora")}] = place;
    change(world, "/spec/resources/cpu", 3);
    Observed seen = world.atoll.observe("cora");
    const Decision decision = decide(seen, world.atoll.settings);
    ASSERT_TRUE(decision.status);
    EXPECT_EQ(decision.status->pod_size, (PodSize{0, "it is chosen when the job is resumed"}))
        << "four ranks of three cores would wait for a node of twelve for ever";
  }
}

TEST(PodSizeChoice, HoldsForMpiJobsToo) {
  World world;
  equip(world, 4);
  json job = job_on_gpus({{"/spec/launcher", "mpijob"}});
  world.atoll.submit(job);
  world.until_training();
  expect_one_pod(world);
  world.run_to_end();
  expect_success(world);
}

}  // namespace
}  // namespace atl::ctl
