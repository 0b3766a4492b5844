// Whole lives of jobs in a fake cluster, each run again with the operator killed after each of its writes.
// Whatever happens, no launcher starts for half a gang, attempts only go up, a job ends once, and nothing is
// left.
#include <gmock/gmock.h>

#include <cstdint>
#include <limits>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TEST(Life, RunsFromSubmissionToSuccess) {
  live([](World& world) {
    world.atoll.submit(sample_job_json());
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
    EXPECT_EQ(world.cluster.prepares, 1);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
    EXPECT_EQ(world.atoll.status().servers.size(), 2u);
  });
}

TEST(Life, AKilledWorkerIsReplacedAndTheRestStays) {
  live([](World& world) {
    world.atoll.submit(sample_job_json());
    world.until_training();
    world.cluster.end_pod("cora-1-0", 137, "OOMKilled", R"({"rank":3,"signal":9,"reason":"OOMKilled"})");
    world.run_to_end();
    expect_success(world);
    const Status status = world.atoll.status();
    ASSERT_THAT(status.restarts, SizeIs(1));
    EXPECT_EQ(status.restarts[0].reason, "OOMKilled");
    EXPECT_EQ(status.restarts[0].culprit.rank, 3);
    EXPECT_EQ(status.restarts[0].culprit.pod, "cora-1-0");
    EXPECT_EQ(status.failures, 1);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 2);
  });
}

TEST(Life, OnlyWhatIsLostIsReplaced) {
  World world;
  world.atoll.submit(sample_job_json());
  world.until_training();
  const std::string healthy = world.cluster.pods.at("cora-0-0").at("metadata").at("uid");
  const std::string node = node_of(world.cluster.pods.at("cora-1-0"));
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(12, [&] { return world.cluster.runs["cora"].launches == 2; });
  ASSERT_EQ(world.cluster.runs["cora"].launches, 2) << "within seconds";
  EXPECT_EQ(world.cluster.pods.at("cora-0-0").at("metadata").at("uid"), healthy);
  EXPECT_EQ(node_of(world.cluster.pods.at("cora-1-1")), node) << "a healthy node is used again";
}

TEST(Life, ADeadNodeIsLeft) {
  live([](World& world) {
    world.atoll.submit(sample_job_json());
    world.until_training();
    const std::string node = node_of(world.cluster.pods.at("cora-1-0"));
    world.kill_node(node);
    world.atoll.run(60, [&] { return world.cluster.runs["cora"].launches == 2; });
    EXPECT_EQ(world.cluster.runs["cora"].launches, 2) << "recovery within a minute";
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.atoll.status().failures, 0);
    for (const ServerPlace& server : world.atoll.status().servers) EXPECT_NE(server.node, node);
  });
}

TEST(Life, TheLaunchersNodeDies) {
  live([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/placement/ranks", 2}}));
    world.until_training();
    const std::string node = node_of(world.cluster.pods.at("cora-launcher-1"));
    world.kill_node(node);
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.cluster.pods_of("cora", kLauncherRole), SizeIs(1)) << "nothing hangs on the dead node";
  });
}

TEST(Life, ARunThatCompletesWhileItIsSuspendedHasCompleted) {
  live([](World& world) {
    world.atoll.submit(sample_job_json());
    world.until_training(19);
    world.suspend(true);
    world.cluster.tick();  // the launcher ends, and only then does the operator look
    world.run_to_end();
    expect_success(world);
  });
}

TEST(Life, AStrangerTakesTheRoomDuringRelease) {
  live([](World& world) {
    world.atoll.submit(sample_job_json());
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
    world.cluster.occupy(world.atoll.status().servers[1].node, 3000);
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
    EXPECT_EQ(world.atoll.status().failures, 0);
  });
}

TEST(Life, AGangWhoseTemplateAllowsOneNodeAloneIsWithdrawnOnce) {
  live([](World& world) {
    world.atoll.submit(
        sample_job_json({{"/spec/placement/ranks", 2},
                         {"/spec/template/spec/nodeSelector", {{"kubernetes.io/hostname", "n1"}}}}));
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
    world.cluster.occupy("n1", 3000);
    world.atoll.run(60);  // a launcher that is made and deleted again and again fails here
    EXPECT_EQ(world.atoll.status().servers.at(0).node, "n1");
    world.cluster.pods.erase("stranger");
    world.cluster.is_changed = true;
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
  });
}

TEST(Life, AWorkerIsLostWhileTheGangIsReleased) {
  live([](World& world) {
    world.atoll.submit(sample_job_json());
    world.atoll.run(600, [&] { return world.cluster.is_running("cora-1-0"); });
    const json pod = world.cluster.pods.at("cora-1-0");
    world.cluster.remove(Kind::kPod, "cora-1-0", pod.at("metadata").at("uid"), 0);
    world.run_to_end();
    expect_success(world);
  });
}

TEST(Life, TwoGangsWithRoomForOne) {
  live([](World& world) {
    world.cluster.nodes.erase("n3");
    world.cluster.nodes.erase("n4");
    world.atoll.submit(sample_job_json());
    world.atoll.submit(sample_job_json({{"/metadata/name", "second"}, {"/metadata/uid", "job-uid-2"}}));
    world.run_to_end(900, "cora");
    world.run_to_end(900, "second");
    expect_success(world, "cora");
    expect_success(world, "second");
    EXPECT_EQ(world.cluster.runs["cora"].launches + world.cluster.runs["second"].launches, 2);
  });
}

TEST(Life, WithoutRoomNothingStartsAndRoomIsNoticed) {
  live([](World& world) {
    for (const char* node : {"n1", "n2", "n3"})
      world.cluster.occupy(node, 3000, std::string("stranger-") + node);
    world.atoll.submit(sample_job_json());
    world.atoll.run(200);
    const Status status = world.atoll.status();
    const Condition* placed = find_condition(status.conditions, kPlaced);
    ASSERT_TRUE(placed && !placed->holds);
    EXPECT_EQ(placed->reason, "NoRoom");
    EXPECT_THAT(placed->message, HasSubstr("needs 2 servers of 2 ranks"));
    for (const auto& name : world.cluster.pods_of("cora", kWorkerRole))
      EXPECT_TRUE(is_gated(read_pod(world.cluster.pods.at(name).dump())));
    world.cluster.pods.erase("stranger-n2");
    world.cluster.is_changed = true;
    world.run_to_end();
    expect_success(world);
  });
}

TEST(Life, AnImageThatCantBePulledHoldsNobodyUp) {
  live([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 1}}));
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
    world.cluster.nodes.at(world.atoll.status().servers[1].node).pulls_images = false;
    world.atoll.run(700, [&] { return world.atoll.status().failures == 1; });
    const Status status = world.atoll.status();
    ASSERT_THAT(status.restarts, SizeIs(1));
    EXPECT_EQ(status.restarts[0].reason, "StartDeadlineExceeded");
    EXPECT_THAT(find_condition(status.conditions, kRestarting)->message,
                HasSubstr("ImagePullBackOff: no such image"));
    world.run_to_end(3000);
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_EQ(world.atoll.status().failures, 2);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 0);
    EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), IsEmpty());
  });
}

TEST(Life, WorkersThatNeverStartedStayWhereThePolicyKeepsThem) {
  live([](World& world) {
    world.atoll.submit(
        sample_job_json({{"/spec/runPolicy/backoffLimit", 0}, {"/spec/runPolicy/cleanPodPolicy", "None"}}));
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
    world.cluster.nodes.at(world.atoll.status().servers[1].node).pulls_images = false;
    world.run_to_end();
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), SizeIs(2));
  });
}

TEST(Life, ANodeWhoseKubeletRejectsPodsIsLeftAndNothingCounts) {
  live([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
    const std::string node = world.atoll.status().servers[1].node;
    world.cluster.nodes.at(node).rejects = true;
    world.run_to_end();
    expect_success(world);
    const Status status = world.atoll.status();
    EXPECT_EQ(status.failures, 0);
    EXPECT_GE(status.restarts.size(), 2u);
    for (const Restart& restart : status.restarts) {
      EXPECT_EQ(restart.reason, "Rejected");
      EXPECT_EQ(restart.culprit.node, node);
    }
    for (const ServerPlace& server : status.servers) EXPECT_NE(server.node, node);
  });
}

TEST(Life, AJobThatAlwaysFailsIsGivenUp) {
  live([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 1}}));
    for (int failure = 0; failure < 2; ++failure) {
      world.atoll.run(600,
                      [&] { return world.trains() && world.cluster.runs["cora"].launches == failure + 1; });
      for (const auto& name : world.cluster.pods_of("cora", kLauncherRole))
        if (world.cluster.is_running(name))
          world.cluster.end_pod(name, 1, "Error", R"({"status":1,"message":"the loss is not finite"})");
    }
    world.run_to_end();
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_EQ(world.atoll.status().failures, 2);
    EXPECT_THAT(find_condition(world.atoll.status().conditions, kFailed)->message,
                HasSubstr("the loss is not finite"));
    EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), IsEmpty());
  });
}

TEST(Life, ADrainedLauncherDoesNotCount) {
  live([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
    world.until_training();
    const json pod = world.cluster.pods.at("cora-launcher-1");
    world.cluster.remove(Kind::kPod, "cora-launcher-1", pod.at("metadata").at("uid"), {});
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.atoll.status().failures, 0);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 2);
  });
}

TEST(Life, AJobWhoseTimeIsUpStops) {
  live([](World& world) {
    world.cluster.training.seconds = 1000;
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/activeDeadlineSeconds", 30}}));
    world.run_to_end();
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_EQ(find_condition(world.atoll.status().conditions, kFailed)->reason, "DeadlineExceeded");
    EXPECT_FALSE(world.trains());
    EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), IsEmpty());
  });
}

TEST(Life, AFinishedJobIsDeletedWhenItIsOldEnough) {
  live([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/ttlSecondsAfterFinished", 50}}));
    world.atoll.run(900, [&] { return world.has_ended(); });
    world.atoll.run(45);
    EXPECT_TRUE(world.cluster.objects.contains({Kind::kJob, "cora"}));
    world.atoll.run(10);
    EXPECT_FALSE(world.cluster.objects.contains({Kind::kJob, "cora"}));
  });
}

TEST(Life, TimesThatNeverComeAreNotOver) {
  live([](World& world) {
    constexpr auto kNever = std::numeric_limits<std::int64_t>::max();
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/activeDeadlineSeconds", kNever},
                                        {"/spec/runPolicy/startDeadlineSeconds", kNever},
                                        {"/spec/runPolicy/progressDeadlineSeconds", kNever},
                                        {"/spec/runPolicy/ttlSecondsAfterFinished", kNever}}));
    world.run_to_end();
    ASSERT_TRUE(world.cluster.objects.contains({Kind::kJob, "cora"})) << "nobody has read its result yet";
    expect_success(world);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
  });
}

}  // namespace
}  // namespace atl::ctl
