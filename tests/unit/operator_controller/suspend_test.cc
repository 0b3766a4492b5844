// Suspended jobs, whoever makes their pods: they leave a checkpoint and nothing else, and go on from it.
#include <gmock/gmock.h>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

struct Launcher {
  const char* name;
  json (*job)(Changes);
};

class Suspend : public testing::TestWithParam<Launcher> {};

TEST_P(Suspend, InTrainingAndResumed) {
  live([](World& world) {
    world.atoll.submit(GetParam().job({}));
    world.until_training();
    world.suspend(true);
    world.atoll.run(60, [&] { return world.atoll.state() == "Suspended"; });
    ASSERT_EQ(world.atoll.state(), "Suspended");
    EXPECT_THAT(world.cluster.pods, IsEmpty());
    EXPECT_THAT(mpi_jobs(world), IsEmpty()) << "its pods would be made anew";
    EXPECT_FALSE(world.atoll.status().start);
    EXPECT_GE(world.cluster.runs["cora"].checkpoint, 7) << "a checkpoint was written on the way out";
    world.atoll.run(100);
    EXPECT_THAT(world.cluster.pods, IsEmpty());
    world.suspend(false);
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
  });
}

TEST_P(Suspend, APodThatDoesNotGoIsNamed) {
  World world;
  world.atoll.submit(GetParam().job({}));
  world.until_training();
  const std::string pod = world.cluster.pods_of("cora", kWorkerRole).front();
  world.cluster.stands_still.insert(pod);
  world.suspend(true);
  world.atoll.run(300);
  const Status status = world.atoll.status();
  EXPECT_THAT(find_condition(status.conditions, kSuspended)->message,
              testing::AllOf(HasSubstr("pod " + pod + " on node "), HasSubstr("runPolicy.suspend is true")));
  world.cluster.stands_still.clear();
  world.cluster.is_changed = true;
  world.atoll.run(60, [&] { return world.atoll.state() == "Suspended"; });
  EXPECT_EQ(world.atoll.state(), "Suspended");
}

TEST_P(Suspend, ResumedBeforeItsPodsAreGone) {
  live([](World& world) {
    const auto suspended = [&] {
      const Status status = world.atoll.status();
      const Condition* found = find_condition(status.conditions, kSuspended);
      return found ? found->reason : "";
    };
    world.atoll.submit(GetParam().job({}));
    world.until_training();
    world.suspend(true);
    world.atoll.run(30, [&] { return suspended() == "Suspending"; });
    ASSERT_EQ(suspended(), "Suspending");
    world.suspend(false);
    world.atoll.run(5);
    EXPECT_EQ(suspended(), "Resumed");
    world.run_to_end();
    expect_success(world);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty()) << "nothing has failed";
    EXPECT_EQ(world.atoll.status().disruptions, 0);
  });
}

TEST_P(Suspend, WhileItStarts) {
  for (int second = 0; second < 14; ++second) {
    World world;
    world.atoll.submit(GetParam().job({}));
    world.atoll.run(second);
    world.suspend(true);
    world.atoll.run(60);
    EXPECT_EQ(world.atoll.state(), "Suspended") << second;
    EXPECT_THAT(world.cluster.pods, IsEmpty()) << second;
    world.suspend(false);
    world.run_to_end();
    expect_success(world);
  }
}

INSTANTIATE_TEST_SUITE_P(Launchers, Suspend,
                         testing::Values(Launcher{"atoll", sample_job_json},
                                         Launcher{"mpijob", mpi_job_json}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl::ctl
