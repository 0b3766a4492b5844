// Nodes that come one after the other, too few of them, or not in the domain where a gang first asks.
#include <gmock/gmock.h>

#include "operator_controller/small_world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct SlowPools : testing::Test {
  SmallWorld world;

  bool is_in_vain() {
    const std::string reason = world.condition(kNodesRequested).reason;
    return reason == "NoNodes" || reason == "TooFewNodes";
  }
};

TEST_F(SlowPools, AreWaitedForAsLongAsNodesCome) {
  world.autoscaler.apart = Seconds(600);
  world.atoll.submit(six_servers());
  bool was_in_vain = false;
  world.atoll.run(4000, [&] {
    was_in_vain |= is_in_vain();
    return world.has_ended();
  });
  world.atoll.run(200);
  EXPECT_FALSE(was_in_vain) << "the last of four nodes comes after half an hour, and patience is 15 minutes";
  expect_success(world);
  EXPECT_EQ(world.autoscaler.added, 4);
}

TEST_F(SlowPools, AreAskedAgainBeforeTheirNodesGo) {
  world.autoscaler.apart = Seconds(600);
  world.autoscaler.rack_for = [&](const json&) -> std::optional<std::string> {
    if (world.autoscaler.added == 2) return {};
    return "";
  };
  world.atoll.submit(six_servers());
  world.atoll.run(3000, [&] { return is_in_vain(); });
  EXPECT_EQ(world.condition(kNodesRequested).reason, "TooFewNodes");
  EXPECT_THAT(world.condition(kNodesRequested).message, HasSubstr("within 900 s of the last node"));
  world.atoll.run(5);
  EXPECT_THAT(world.placeholders(), IsEmpty());
  world.atoll.run(310);
  EXPECT_THAT(world.placeholders(), Not(IsEmpty()))
      << "cluster-autoscaler takes unused nodes away after ten minutes";
}

TEST_F(SlowPools, AreNotWaitedForForEver) {
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  int moved = 0;
  for (; moved < 30 && !is_in_vain(); ++moved) {
    world.atoll.run(500, [&] { return is_in_vain(); });
    for (const std::string& name : world.placeholders()) {
      if (node_of(world.cluster.pods.at(name)).empty() || name == "cora-room-launcher") continue;
      world.cluster.pods.erase(name);  // another takes its node, or it does itself
      world.cluster.touch(Kind::kPod, name);
      break;
    }
  }
  EXPECT_GT(moved, 10) << "each time something got a node";
  EXPECT_LT(moved, 20) << "six servers have 900 s each, and the last node its own";
}

TEST_F(SlowPools, OfOtherRacksAreTriedWhereTheFirstCannotGrow) {
  world.atoll.settings.scale_up_seconds = 60;
  world.cluster.nodes.at("n2").labels["rack"] = "r2";
  json job = six_servers();
  job["spec"]["placement"]["topologyLevels"] = json::array({"rack", "kubernetes.io/hostname"});
  job["spec"]["placement"]["within"] = "rack";
  // The first rack is full, and new nodes of others only come for pods that demand those.
  world.autoscaler.rack_for = [](const json& pod) -> std::optional<std::string> {
    const std::string spec = pod.at("spec").dump();
    if (spec.find(R"({"key":"rack","operator":"In","values":["r2"]})") != std::string::npos) return "r2";
    if (spec.find(R"({"key":"rack","operator":"NotIn","values":["r1","r2"]})") != std::string::npos)
      return "r3";
    return {};
  };
  world.atoll.submit(job);
  world.run_to_end(16'000);
  expect_success(world);
}

TEST_F(SlowPools, AreNotAskedWhereOnlyReservedRoomIsMissing) {
  world.atoll.add = [&](Observed&) {
    world.atoll.view.of.plan = [&](const Gang& gang) {
      GangPlan plan = plan_gang(gang, world.cluster.snapshot());
      plan.would_fit_unreserved = !plan.fits;
      return plan;
    };
  };
  world.atoll.submit(six_servers());
  world.atoll.run(100);
  EXPECT_THAT(world.placeholders(), IsEmpty());
  EXPECT_THAT(world.condition(kPlaced).message, HasSubstr("reserved for another gang"));
}

}  // namespace
}  // namespace atl::ctl
