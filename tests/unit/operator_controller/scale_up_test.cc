// A gang that waits for room has an autoscaler add nodes, by placeholder pods: two nodes grow to as many as
// it needs, and nothing of that stays.
#include <gmock/gmock.h>

#include "operator_controller/small_world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ScaleUpTest : public testing::Test {
 protected:
  SmallWorld world;
};

TEST_F(ScaleUpTest, TwoNodesGrowToSixAndTheGangStarts) {
  world.atoll.submit(six_servers());
  world.run_to_end();
  expect_success(world);
  EXPECT_THAT(world.cluster.nodes, SizeIs(6));
  EXPECT_EQ(world.autoscaler.added, 4) << "no more than the gang needs";
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_FALSE(world.condition(kNodesRequested).holds);
}

TEST_F(ScaleUpTest, TheStatusSaysWhatIsAskedOfWhom) {
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  world.atoll.run(5);
  EXPECT_EQ(world.atoll.state(), "Waiting");
  EXPECT_TRUE(world.condition(kNodesRequested).holds);
  EXPECT_EQ(world.condition(kPlaced).reason, "NoRoom");
  EXPECT_THAT(world.condition(kPlaced).message,
              AllOf(HasSubstr("asked the autoscaler, by placeholder pods, for nodes for 6 servers (3 cpu"),
                    HasSubstr("and a launcher")));
}

TEST_F(ScaleUpTest, APlaceholderAsksForWhatItsServerWill) {
  world.autoscaler.is_silent = true;
  json job = six_servers();
  job["spec"]["template"] = parse_json(R"({"spec": {
      "nodeSelector": {"disk": "ssd"}, "tolerations": [{"key": "gnn", "operator": "Exists"}]}})");
  world.atoll.submit(job);
  for (auto& [name, node] : world.cluster.nodes) node.labels["disk"] = "ssd";
  world.until_asked();
  const json pod = world.cluster.pods.at("cora-room-5"), &spec = pod.at("spec");
  const json& worker = world.cluster.pods.at("cora-5-0").at("spec");
  EXPECT_EQ(spec.at("nodeSelector"), worker.at("nodeSelector"));
  EXPECT_EQ(spec.at("tolerations"), worker.at("tolerations"));
  EXPECT_EQ(requests_of(spec), requests_of(worker));
  EXPECT_FALSE(spec.contains("schedulingGates"));
  EXPECT_EQ(spec.at("priorityClassName"), "atoll-placeholder");
  EXPECT_EQ(spec.at("containers").at(0).at("image"), "pause:1");
  EXPECT_EQ(pod.at("metadata").at("ownerReferences").at(0).at("uid"), "job-uid")
      << "a deleted job's go with it";
}

TEST_F(ScaleUpTest, WhereTheAutoscalerDoesNothingItIsToldAndTakenBack) {
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  world.atoll.run(930);
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_EQ(world.condition(kNodesRequested).reason, "NoNodes");
  EXPECT_THAT(world.condition(kNodesRequested).message, HasSubstr("within 900 s"));
  EXPECT_THAT(world.condition(kPlaced).message, HasSubstr("nodes were asked for in vain"));
  int asked = 0;
  for (int minute = 0; minute < 120; ++minute) {
    world.atoll.run(60);
    asked += !world.placeholders().empty();
  }
  EXPECT_GT(asked, 10) << "it is asked again";
  EXPECT_LT(asked, 45) << "and less and less often";
}

TEST_F(ScaleUpTest, ALateAutoscalerIsAskedAgain) {
  world.autoscaler.needs = Seconds(60);
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  world.atoll.run(930);
  ASSERT_THAT(world.placeholders(), IsEmpty());
  world.autoscaler.is_silent = false;
  world.run_to_end(3000);
  expect_success(world);
}

TEST_F(ScaleUpTest, NothingIsAskedForWhatNodesCannotMend) {
  json job = six_servers();
  job["spec"]["template"] = parse_json(R"({"spec": {"nodeSelector": {"kubernetes.io/hostname": "n1"}}})");
  world.atoll.submit(job);
  world.atoll.run(200);
  ASSERT_EQ(world.condition(kPlaced).reason, "NoRoom");
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_EQ(world.autoscaler.added, 0);
}

TEST_F(ScaleUpTest, NothingIsAskedForUnlessTheOperatorIsToldTo) {
  world.atoll.settings.scale_up = ScaleUp::kNone;
  world.atoll.submit(six_servers());
  world.atoll.run(200);
  ASSERT_EQ(world.condition(kPlaced).reason, "NoRoom");
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_EQ(world.condition(kNodesRequested).type, "");
}

TEST_F(ScaleUpTest, ASuspendedJobLeavesNothing) {
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  world.suspend(true);
  world.atoll.run(20);
  EXPECT_EQ(world.atoll.state(), "Suspended");
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_FALSE(world.condition(kNodesRequested).holds);
}

TEST_F(ScaleUpTest, ARefusedPlaceholderIsNoFaultOfTheJobs) {
  int tried = 0;
  world.cluster.refuse = [&](Kind kind, const json& object) -> std::string {
    if (kind != Kind::kPod || label_of(object, kRoleLabel) != kPlaceholderRole) return "";
    return ++tried > 2 ? "exceeded quota: team" : "";
  };
  world.atoll.submit(six_servers());
  world.atoll.run(120);
  EXPECT_EQ(world.condition(kCreated).reason, "Made");
  EXPECT_EQ(world.condition(kNodesRequested).reason, "NoNodes");
  EXPECT_THAT(world.condition(kNodesRequested).message, HasSubstr("exceeded quota: team"));
  EXPECT_THAT(world.placeholders(), IsEmpty()) << "half of what is needed helps nobody";
  EXPECT_LT(tried, 10);
}

TEST_F(ScaleUpTest, AnOperatorThatMayNotAskSaysWhy) {
  world.atoll.add = [&](Observed&) {
    world.atoll.view.of.why_no_request = [](std::size_t servers) {
      return std::to_string(servers) + " are too many";
    };
  };
  world.atoll.submit(six_servers());
  world.atoll.run(100);
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_THAT(world.condition(kPlaced).message, HasSubstr("no nodes are asked for now: 6 are too many"));
}

TEST_F(ScaleUpTest, PlaceholdersTakeNoRoomFromAnotherGang) {
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  world.atoll.run(5);
  std::vector<std::string> nodes;
  for (const std::string& name : world.placeholders())
    if (!node_of(world.cluster.pods.at(name)).empty()) nodes.push_back(node_of(world.cluster.pods.at(name)));
  ASSERT_THAT(nodes, testing::Not(IsEmpty())) << "else this shows nothing";
  const Snapshot snapshot = world.cluster.snapshot();
  Gang other{.job = "team/other"};
  other.servers = {{0}, {1}};
  other.server = Resources({{"cpu", 3000}});
  other.traffic = Traffic::uniform(2, 1);
  other.levels = {kHostnameLabel};
  other.weights = {1};
  const GangPlan plan = plan_gang(other, snapshot);
  ASSERT_TRUE(plan.fits);
  EXPECT_THAT(plan.nodes, testing::UnorderedElementsAre("n1", "n2"));
}

TEST_F(ScaleUpTest, AnOperatorThatDiesBetweenAnyTwoWritesGoesOn) {
  const auto life = [](SmallWorld& small) {
    small.atoll.submit(six_servers());
    small.run_to_end();
    expect_success(small);
    EXPECT_THAT(small.cluster.nodes, SizeIs(6));
    EXPECT_THAT(small.placeholders(), IsEmpty());
  };
  life(world);
  for (int kill = 0; kill <= world.atoll.writes && !HasFailure(); ++kill) {
    SCOPED_TRACE("the operator is killed after " + std::to_string(kill) + " writes");
    SmallWorld small;
    small.atoll.kill_after = kill;
    life(small);
  }
}

// By CapacityBuffers: no pod is made, and the autoscaler reads how many of which shape would be.

class BufferTest : public ScaleUpTest {
 protected:
  BufferTest() { world.atoll.settings.scale_up = ScaleUp::kCapacityBuffers; }

  std::vector<std::string> names(Kind kind) const {
    std::vector<std::string> all;
    for (const auto& [key, object] : world.cluster.objects)
      if (key.first == kind) all.push_back(key.second);
    return all;
  }
  const json& buffer(const std::string& name) const {
    return world.cluster.objects.at({Kind::kCapacityBuffer, name});
  }
  void submit_and_ask() {
    world.atoll.submit(six_servers());
    world.atoll.run(60, [&] { return !names(Kind::kCapacityBuffer).empty(); });
  }
};

TEST_F(BufferTest, OneAsksForAllServersAndOneForTheLauncher) {
  submit_and_ask();
  EXPECT_THAT(names(Kind::kCapacityBuffer), ElementsAre("cora-room-6-worker", "cora-room-launcher"));
  EXPECT_EQ(names(Kind::kPodTemplate), names(Kind::kCapacityBuffer));
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_EQ(buffer("cora-room-6-worker").at("spec").at("replicas"), 6);
  EXPECT_EQ(buffer("cora-room-launcher").at("spec").at("replicas"), 1);
  const json& of = world.cluster.objects.at({Kind::kPodTemplate, "cora-room-6-worker"}).at("template");
  EXPECT_EQ(requests_of(of.at("spec")).of("cpu"), 3000);
}

TEST_F(BufferTest, ServerZeroHasItsOwnWhereItsOutputBindsItToAZone) {
  world.bind_output_to("a");
  submit_and_ask();
  EXPECT_THAT(names(Kind::kCapacityBuffer),
              ElementsAre("cora-room-5-worker", "cora-room-first", "cora-room-launcher"));
  const std::string of_first =
      world.cluster.objects.at({Kind::kPodTemplate, "cora-room-first"}).at("template").dump();
  EXPECT_THAT(of_first, HasSubstr(R"({"key":"zone","operator":"In","values":["a"]})"));
  EXPECT_EQ(buffer("cora-room-first").at("spec").at("replicas"), 1);
  EXPECT_EQ(buffer("cora-room-5-worker").at("spec").at("replicas"), 5);
}

TEST_F(BufferTest, TheyAreGoneBeforeTheGangIsReleased) {
  submit_and_ask();
  for (int n = 3; n <= 6; ++n) {
    const std::string name = "n" + std::to_string(n);
    world.cluster.nodes[name].labels["kubernetes.io/hostname"] = name;
    world.cluster.touch_node(name);
  }
  bool is_released = false;
  for (int second = 0; second < 60 && !is_released; ++second) {
    world.atoll.run(1);
    for (const std::string& worker : world.cluster.pods_of("cora", kWorkerRole))
      is_released |= !is_gated(read_pod(world.cluster.pods.at(worker).dump()));
  }
  ASSERT_TRUE(is_released);
  EXPECT_THAT(names(Kind::kCapacityBuffer), IsEmpty());
  EXPECT_THAT(names(Kind::kPodTemplate), IsEmpty());
  world.run_to_end();
  expect_success(world);
}

TEST_F(BufferTest, AnOperatorThatAsksOtherwiseDeletesThem) {
  world.autoscaler.is_silent = true;
  submit_and_ask();
  ASSERT_FALSE(names(Kind::kCapacityBuffer).empty());
  world.atoll.settings.scale_up = ScaleUp::kPlaceholders;
  world.atoll.run(30);
  EXPECT_THAT(names(Kind::kCapacityBuffer), IsEmpty()) << "also of a name that a placeholder has";
  EXPECT_THAT(names(Kind::kPodTemplate), IsEmpty());
  EXPECT_THAT(world.placeholders(), SizeIs(7)) << "six servers and a launcher";
}

TEST_F(BufferTest, AnOperatorThatAsksNoMoreDeletesThem) {
  world.autoscaler.is_silent = true;
  submit_and_ask();
  ASSERT_FALSE(names(Kind::kCapacityBuffer).empty());
  world.atoll.settings.scale_up = ScaleUp::kNone;
  world.atoll.run(30);
  EXPECT_THAT(names(Kind::kCapacityBuffer), IsEmpty());
  EXPECT_THAT(names(Kind::kPodTemplate), IsEmpty());
  EXPECT_FALSE(world.condition(kNodesRequested).holds);
}

TEST_F(BufferTest, ASuspendedJobLeavesNone) {
  submit_and_ask();
  world.suspend(true);
  world.atoll.run(20);
  EXPECT_EQ(world.atoll.state(), "Suspended");
  EXPECT_THAT(names(Kind::kCapacityBuffer), IsEmpty());
  EXPECT_THAT(names(Kind::kPodTemplate), IsEmpty());
}

}  // namespace
}  // namespace atl::ctl
