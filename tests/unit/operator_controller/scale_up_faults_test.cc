// Nodes that are asked for where something is in the way: a disk of one zone, a kubelet that rejects, a name
// that is taken, a job that fails meanwhile.
#include <gmock/gmock.h>

#include "operator_controller/small_world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct ScaleUpFaults : testing::Test {
  SmallWorld world;
};

TEST_F(ScaleUpFaults, TheNodeOfServerZeroIsAskedForWhereItsOutputIs) {
  world.bind_output_to("a");
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  EXPECT_THAT(world.cluster.pods.at("cora-room-0").at("spec").dump(),
              HasSubstr(R"({"key":"zone","operator":"In","values":["a"]})"));
  EXPECT_THAT(world.cluster.pods.at("cora-room-1").at("spec").dump(), Not(HasSubstr("zone")))
      << "others may be anywhere";
}

TEST_F(ScaleUpFaults, APlaceholderThatItsKubeletRejectsIsMadeAgainOnceAMinute) {
  world.autoscaler.is_silent = true;
  int made = 0;
  world.cluster.refuse = [&](Kind kind, const json& object) -> std::string {
    made += kind == Kind::kPod && label_of(object, kRoleLabel) == kPlaceholderRole;
    return "";
  };
  world.atoll.submit(six_servers());
  world.until_asked();
  world.cluster.nodes["n1"].rejects = true;
  world.atoll.run(300);
  EXPECT_GT(made, 8) << "the next may be taken";
  EXPECT_LT(made, 50) << "seven pods in five minutes";
}

TEST_F(ScaleUpFaults, ATakenNameOfAPlaceholderIsNoFaultOfTheJobs) {
  world.autoscaler.is_silent = true;
  world.cluster.create(Kind::kPod, "cora-room-0", parse_json(R"({
      "metadata": {"name": "cora-room-0", "namespace": "team", "labels": {"atoll.dev/job": "cora"}},
      "spec": {"containers": [{"name": "c"}]}})"));
  world.atoll.submit(six_servers());
  world.atoll.run(100);
  EXPECT_EQ(world.condition(kCreated).reason, "Made");
  EXPECT_EQ(world.condition(kNodesRequested).reason, "NoNodes");
  EXPECT_THAT(world.condition(kNodesRequested).message, HasSubstr("Pod cora-room-0 isn't this job's"));
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_TRUE(world.cluster.pods.contains("cora-room-0")) << "it is somebody else's";
}

TEST_F(ScaleUpFaults, AJobThatFailsWhileItAsksAsksNoMore) {
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  ASSERT_TRUE(world.condition(kNodesRequested).holds);
  world.atoll.job()["spec"]["dataset"].erase("volume");
  world.cluster.is_changed = true;
  world.atoll.run(10);
  EXPECT_EQ(world.atoll.state(), "Failed");
  EXPECT_FALSE(world.condition(kNodesRequested).holds) << "this never changes any more";
  EXPECT_THAT(world.placeholders(), IsEmpty());
}

// What asks can't be deleted: for the operator's rights, or for a webhook.

struct StuckRequest : ScaleUpFaults {
  void ask_and_be_stuck() {
    world.autoscaler.is_silent = true;
    world.atoll.submit(six_servers());
    world.until_asked();
    world.cluster.keeps = [](Kind kind, const std::string& name) {
      return kind == Kind::kPod && name.starts_with("cora-room-");
    };
  }
};

TEST_F(StuckRequest, HoldsNoSuspensionUp) {
  ask_and_be_stuck();
  world.suspend(true);
  world.atoll.run(30);
  EXPECT_EQ(world.atoll.state(), "Suspended");
  EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), IsEmpty());
  ASSERT_THAT(world.placeholders(), Not(IsEmpty())) << "else this shows nothing";
  EXPECT_TRUE(world.condition(kDeletionRefused).holds);
  EXPECT_THAT(world.condition(kDeletionRefused).message,
              testing::HasSubstr("Pod cora-room-0 is to be deleted, which the API server refuses: it is kept "
                                 "today (and 6 more)"));
  world.cluster.keeps = [](Kind, const std::string&) { return false; };
  world.atoll.run(10);
  EXPECT_THAT(world.placeholders(), IsEmpty()) << "it was tried again";
  EXPECT_FALSE(world.condition(kDeletionRefused).holds);
}

TEST_F(StuckRequest, HoldsNoStartAndNoEndUp) {
  ask_and_be_stuck();
  for (int n = 3; n <= 6; ++n) {
    const std::string name = "n" + std::to_string(n);
    world.cluster.nodes[name].labels["kubernetes.io/hostname"] = name;
    world.cluster.touch_node(name);
  }
  world.run_to_end();
  expect_success(world);
}

TEST_F(StuckRequest, HoldsNoFailureUp) {
  ask_and_be_stuck();
  world.atoll.job()["spec"]["dataset"].erase("volume");
  world.cluster.is_changed = true;
  world.atoll.run(30);
  EXPECT_EQ(world.atoll.state(), "Failed");
  EXPECT_THAT(world.cluster.pods_of("cora", kWorkerRole), IsEmpty());
}

}  // namespace
}  // namespace atl::ctl
