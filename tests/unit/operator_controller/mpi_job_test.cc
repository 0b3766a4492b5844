// Lives of jobs with launcher: mpijob. mpi-operator makes the pods; when and where they start, and the job's
// fate, are the same as without it.
#include <gmock/gmock.h>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using testing::StartsWith;

Condition condition(World& world, const char* type) {
  const Status status = world.atoll.status();
  const Condition* found = find_condition(status.conditions, type);
  EXPECT_TRUE(found) << type << ": " << world.atoll.job().dump(1);
  return found ? *found : Condition{};
}

TEST(MpiJob, RunsFromSubmissionToSuccess) {
  live([](World& world) {
    world.atoll.submit(mpi_job_json());
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
    EXPECT_THAT(mpi_jobs(world), ElementsAre("cora-1"));
    EXPECT_THAT(world.cluster.pods_of("cora", kLauncherRole), ElementsAre("cora-1-launcher-x"));
    EXPECT_EQ(condition(world, kCreated).reason, "Made");
  });
}

TEST(MpiJob, ItsWorkersStandWhereThePlanSays) {
  World world;
  world.atoll.submit(mpi_job_json());
  world.until_training();
  const Status status = world.atoll.status();
  ASSERT_THAT(status.servers, SizeIs(2));
  EXPECT_THAT(status.servers[1].ranks, ElementsAre(2, 3));
  for (int server = 0; server < 2; ++server) {
    const json& pod = world.cluster.pods.at("cora-1-worker-" + std::to_string(server));
    EXPECT_EQ(read_pod(pod.dump()).pinned, status.servers[std::size_t(server)].node);
    EXPECT_EQ(node_of(pod), status.servers[std::size_t(server)].node);
  }
  const json map = world.cluster.objects.at({Kind::kConfigMap, "cora-attempt-1"});
  const json told = parse_json(map.at("data").at("attempt.json").get<std::string>());
  EXPECT_EQ(told.at("servers").at(1).at("pod"), "cora-1-worker-1");
  EXPECT_EQ(told.at("servers").at(1).at("ranks"), json({2, 3}));
}

TEST(MpiJob, WithoutRoomNothingStarts) {
  live([](World& world) {
    for (const char* node : {"n1", "n2", "n3"})
      world.cluster.occupy(node, 3000, std::string("stranger-") + node);
    world.atoll.submit(mpi_job_json());
    world.atoll.run(200);
    EXPECT_EQ(condition(world, kPlaced).reason, "NoRoom");
    EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), SizeIs(2));
    for (const char* role : {kWorkerRole, kLauncherRole})
      for (const auto& name : world.cluster.pods_of("cora", role))
        EXPECT_TRUE(is_gated(read_pod(world.cluster.pods.at(name).dump()))) << name;
    world.cluster.pods.erase("stranger-n2");
    world.cluster.is_changed = true;
    world.run_to_end();
    expect_success(world);
  });
}

TEST(MpiJob, ALostWorkerEndsTheAttemptAndTheNextHasPodsOfItsOwn) {
  live([](World& world) {
    world.atoll.submit(mpi_job_json());
    world.until_training();
    world.cluster.end_pod("cora-1-worker-1", 137, "OOMKilled",
                          R"({"rank":3,"signal":9,"reason":"OOMKilled"})");
    world.run_to_end();
    expect_success(world);
    const Status status = world.atoll.status();
    ASSERT_THAT(status.restarts, SizeIs(1));
    EXPECT_EQ(status.restarts[0].reason, "OOMKilled");
    EXPECT_EQ(status.restarts[0].culprit.pod, "cora-1-worker-1");
    EXPECT_EQ(status.restarts[0].culprit.rank, 3);
    EXPECT_EQ(status.failures, 1);
    EXPECT_EQ(status.attempt, 2);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 2);
    EXPECT_THAT(mpi_jobs(world), ElementsAre("cora-2"));
  });
}

TEST(MpiJob, ADeadNodeIsLeft) {
  live([](World& world) {
    world.atoll.submit(mpi_job_json());
    world.until_training();
    const std::string dead = node_of(world.cluster.pods.at("cora-1-worker-0"));
    world.kill_node(dead);
    world.run_to_end();
    expect_success(world);
    for (const ServerPlace& server : world.atoll.status().servers) EXPECT_NE(server.node, dead);
    for (const auto& [name, pod] : world.cluster.pods)
      EXPECT_THAT(name, AnyOf("cora-prepare", StartsWith("cora-2-"))) << "nothing hangs on the dead node";
  });
}

TEST(MpiJob, AStrangerTakesTheRoomDuringRelease) {
  live([](World& world) {
    world.atoll.submit(mpi_job_json());
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
    world.cluster.occupy(world.atoll.status().servers[1].node, 3000);
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
    EXPECT_EQ(world.atoll.status().failures, 0);
    EXPECT_THAT(mpi_jobs(world), ElementsAre("cora-2"));
  });
}

TEST(MpiJob, OfAJobWhoseTimeIsUpNothingIsLeftThatWouldMakePods) {
  live([](World& world) {
    world.cluster.training.seconds = 1000;
    world.atoll.submit(mpi_job_json({{"/spec/runPolicy/activeDeadlineSeconds", 30}}));
    world.run_to_end();
    EXPECT_EQ(condition(world, kFailed).reason, "DeadlineExceeded");
    EXPECT_FALSE(world.trains());
    EXPECT_THAT(mpi_jobs(world), IsEmpty());
    EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), IsEmpty());
  });
}

TEST(MpiJob, ADeletedGatedLauncherIsNoReasonToWaitForEver) {
  World world;
  for (const char* node : {"n1", "n2", "n3"})
    world.cluster.occupy(node, 3000, std::string("stranger-") + node);
  world.atoll.submit(mpi_job_json());
  world.atoll.run(20);
  const json pod = world.cluster.pods.at("cora-1-launcher-x");
  world.cluster.remove(Kind::kPod, "cora-1-launcher-x", pod.at("metadata").at("uid"), {});
  world.atoll.run(20);
  EXPECT_THAT(mpi_jobs(world), ElementsAre("cora-2"));
  EXPECT_THAT(condition(world, kRestarting).message, HasSubstr("cora-1 has failed"));
  EXPECT_EQ(world.atoll.status().failures, 0);
}

TEST(MpiJob, SaysWhereNobodyMakesItsPods) {
  World world;
  world.mpi_operator.is_down = true;
  world.atoll.submit(mpi_job_json());
  world.atoll.run(60);
  EXPECT_EQ(condition(world, kCreated).reason, "NoMpiOperator");
  EXPECT_THAT(condition(world, kCreated).message, AllOf(HasSubstr("cora-1"), HasSubstr("0 of 2 workers")));
  world.mpi_operator.is_down = false;
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(condition(world, kCreated).reason, "Made");
}

TEST(MpiJob, IsRefusedWhereThereIsNoMpiOperator) {
  World world;
  world.atoll.settings.mpi_jobs = false;
  world.atoll.submit(mpi_job_json());
  world.atoll.run(5);
  EXPECT_EQ(condition(world, kFailed).reason, "InvalidSpec");
  EXPECT_THAT(condition(world, kFailed).message, HasSubstr("mpiJobs.enabled"));
}

TEST(MpiJob, RunsOnUnderAnOperatorThatIsNotToldOfMpiOperatorAnyMore) {
  World world;
  world.atoll.submit(mpi_job_json());
  world.until_training();
  world.atoll.settings.mpi_jobs = false;
  world.cluster.is_changed = true;
  world.atoll.run(3);
  EXPECT_FALSE(world.has_ended());
  EXPECT_TRUE(world.trains());
  EXPECT_EQ(condition(world, kCreated).reason, "NoMpiOperator");
  EXPECT_THAT(condition(world, kCreated).message, HasSubstr("mpiJobs.enabled"));
  world.atoll.settings.mpi_jobs = true;
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
}

TEST(MpiJob, OfSomebodyElseIsLeftAlone) {
  World world;
  world.atoll.add = [](Observed& seen) {
    seen.objects.push_back({Kind::kMpiJob, {.name = "cora-1", .uid = "x", .owner_uid = "somebody"}});
  };
  world.atoll.submit(mpi_job_json());
  world.atoll.run(20);
  EXPECT_EQ(condition(world, kCreated).reason, "NameTaken");
  EXPECT_THAT(condition(world, kCreated).message, HasSubstr("MPIJob cora-1"));
}

}  // namespace
}  // namespace atl::ctl
