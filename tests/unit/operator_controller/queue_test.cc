// Jobs that queue for quota with Kueue: they have pods only while Kueue admits them, give them back with a
// checkpoint when it evicts them, and report their progress to it.
#include <gmock/gmock.h>

#include <random>

#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Queue, AJobTrainsOnceItIsAdmittedAndIsFinishedThen) {
  live_queued([](QueueWorld& world) {
    world.atoll.submit(queued_job());
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
    const Workload told = world.kueue.read();
    const Condition* finished = find_condition(told.conditions, kFinished);
    ASSERT_TRUE(finished && finished->holds);
    EXPECT_EQ(finished->reason, "Succeeded");
    EXPECT_EQ(world.kueue.workload().at("spec").at("queueName"), "team-queue");
  });
}

TEST(Queue, WithoutQuotaItWaitsAndSaysSo) {
  live_queued([](QueueWorld& world) {
    world.kueue.cores = 6099;
    world.atoll.submit(queued_job());
    world.atoll.run(100);
    EXPECT_EQ(world.atoll.state(), "Suspended");
    EXPECT_EQ(condition(world, kSuspended).reason, "Queued");
    EXPECT_THAT(condition(world, kSuspended).message,
                AllOf(HasSubstr("team-queue"), HasSubstr("insufficient unused quota")));
    EXPECT_THAT(world.cluster.pods, IsEmpty());
    EXPECT_EQ(world.cluster.prepares, 0);
    world.kueue.cores = 6100;
    world.run_to_end();
    expect_success(world);
  });
}

TEST(Queue, AnEvictedJobLeavesACheckpointAndItsQuotaAndComesBack) {
  live_queued([](QueueWorld& world) {
    world.atoll.submit(queued_job());
    world.until_training();
    world.kueue.evict();
    world.kueue.cores = 0;
    world.atoll.run(60);
    EXPECT_EQ(condition(world, kSuspended).reason, "Evicted");
    EXPECT_THAT(world.cluster.pods, IsEmpty());
    const Workload told = world.kueue.read();
    EXPECT_FALSE(told.has_admission);
    EXPECT_FALSE(holds(told.conditions, kQuotaReserved));
    EXPECT_FALSE(holds(told.conditions, kAdmitted));
    EXPECT_TRUE(holds(told.conditions, kRequeued)) << "it was preempted, so it waits again";
    EXPECT_GE(world.cluster.runs["cora"].checkpoint, 7) << "a checkpoint was written on the way out";
    world.kueue.cores = 8000;
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty()) << "an eviction is no failure";
  });
}

TEST(Queue, ADeactivatedOneIsNotRequeued) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.until_training();
  world.kueue.evict("cora", "Deactivated");
  world.kueue.cores = 0;
  world.atoll.run(60);
  const Workload told = world.kueue.read();
  const Condition* requeued = find_condition(told.conditions, kRequeued);
  ASSERT_TRUE(requeued);
  EXPECT_FALSE(requeued->holds);
}

TEST(Queue, KueueHearsWhetherTheRanksRun) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.until_training();
  world.atoll.run(2);
  const auto ready = [&] {
    const Workload told = world.kueue.read();
    const Condition* found = find_condition(told.conditions, kPodsReady);
    return found ? found->reason : "";
  };
  EXPECT_EQ(ready(), "Started");
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(60, [&] { return ready() == "WaitForRecovery"; });
  EXPECT_EQ(ready(), "WaitForRecovery");
  world.atoll.run(60, [&] { return ready() == "Recovered"; });
  EXPECT_EQ(ready(), "Recovered");
}

TEST(Queue, ARecoveryThatAnEvictionCutShortCountsNoLonger) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.until_training();
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  const auto ready = [&] { return *find_condition(world.kueue.read().conditions, kPodsReady); };
  world.atoll.run(60, [&] { return ready().reason == "WaitForRecovery"; });
  world.kueue.evict();
  world.kueue.cores = 0;
  world.atoll.run(60);
  EXPECT_EQ(ready().reason, "WaitForStart");
}

TEST(Queue, ASuspendedJobIsInNoQueue) {
  live_queued([](QueueWorld& world) {
    world.atoll.submit(queued_job());
    world.until_training();
    world.suspend(true);
    world.atoll.run(60);
    EXPECT_EQ(condition(world, kSuspended).reason, "Suspended");
    EXPECT_FALSE(world.kueue.has_workload());
    EXPECT_THAT(world.cluster.pods, IsEmpty());
    world.suspend(false);
    world.run_to_end();
    expect_success(world);
  });
}

TEST(Queue, ADeletedWorkloadTakesThePodsAndIsMadeAgain) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.until_training();
  world.kueue.cores = 0;
  // Its pods are there for a moment more, which Kueue takes note of and can't help.
  world.cluster.others = [] {};
  world.cluster.objects.erase({Kind::kWorkload, "gnnjob-cora"});
  world.cluster.is_changed = true;
  world.atoll.run(60);
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  EXPECT_TRUE(world.kueue.has_workload());
}

TEST(Queue, AFailedJobIsFinishedToo) {
  QueueWorld world;
  world.cluster.training.seconds = 1000;
  world.atoll.submit(queued_job({{"/spec/runPolicy/activeDeadlineSeconds", 30}}));
  world.run_to_end();
  const Workload told = world.kueue.read();
  const Condition* finished = find_condition(told.conditions, kFinished);
  ASSERT_TRUE(finished && finished->holds);
  EXPECT_EQ(finished->reason, "Failed");
}

/// FakeKueue looks every second whether a pod runs whose quota is given back.
TEST(Queue, NoPodOfAJobThatHasEndedRunsOnWhateverThePolicy) {
  live_queued([](QueueWorld& world) {
    world.atoll.submit(queued_job({{"/spec/runPolicy/cleanPodPolicy", "None"}}));
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.cluster.pods_of("cora", kLauncherRole), testing::SizeIs(1)) << "kept for its log";
    EXPECT_TRUE(holds(world.kueue.read().conditions, kFinished));
  });
}

TEST(Queue, MpiJobsQueueAsWell) {
  live_queued([](QueueWorld& world) {
    json job = queued_job();
    job["spec"]["launcher"] = "mpijob";
    world.atoll.submit(job);
    world.until_training();
    world.kueue.evict();
    world.run_to_end();
    expect_success(world);
  });
}

TEST(Queue, EvictedAtRandomAJobCompletesOnce) {
  for (unsigned seed = 1; seed <= 30 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    QueueWorld world;
    world.cluster.training.seconds = 60;
    world.atoll.submit(queued_job());
    for (int blow = 0; blow < 15; ++blow) {
      world.atoll.run(1 + int(random() % 20));
      if (random() % 3 == 0) world.atoll.kill_after = world.atoll.writes + int(random() % 6);
      world.kueue.evict();
    }
    world.run_to_end(3000);
    expect_success(world);
  }
}

}  // namespace
}  // namespace atl::ctl
