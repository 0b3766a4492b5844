// A launcher is pinned to a node long before it starts there: things that may happen to that node meanwhile.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class Launcher : public Decide {
 protected:
  /// It is pinned, and its gang's workers are bound. Returns its node.
  std::string until_pinned(Changes changes = {}) {
    submit(changes);
    until_placed();
    world.cluster.tick();
    return read_pod(world.cluster.pods.at("cora-launcher-1").dump()).pinned;
  }
  /// In the same attempt, as if nothing had been.
  void expect_started_elsewhere(const std::string& node) {
    world.atoll.run(10, [&] { return world.trains(); });
    ASSERT_TRUE(world.trains());
    EXPECT_NE(node_of_pod("cora-launcher-1"), node);
    EXPECT_EQ(world.atoll.status().attempt, 1);
    EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
  }
};

TEST_F(Launcher, GetsAnotherNodeWhereItsOwnIsCordoned) {
  const std::string node = until_pinned();
  world.cluster.nodes.at(node).is_cordoned = true;
  expect_started_elsewhere(node);
}

TEST_F(Launcher, GetsAnotherNodeWhereItsOwnIsTainted) {
  const std::string node = until_pinned();
  world.cluster.nodes.at(node).taints = {{"node.kubernetes.io/unreachable", "", "NoExecute"}};
  expect_started_elsewhere(node);
}

TEST_F(Launcher, SaysWhatKeepsItFromItsNode) {
  const std::string node = until_pinned();
  world.atoll.work();
  const Decision decision = decide_on([&](Observed& seen) {
    for (PodView& each : seen.pods) {
      if (each.meta.label(kRoleLabel) != kPrepareRole)
        each.ready = true, each.ip = "10.0.0.1", each.phase = "Running", each.node = each.pinned;
    }
    seen.nodes.at(node).taints = {{"maintenance", "now", "NoExecute"}};
  });
  EXPECT_THAT(condition(decision, kRunning).message,
              HasSubstr("the launcher's node " + node + " has the taint maintenance=now:NoExecute"));
}

TEST_F(Launcher, StaysWhereItsTemplateToleratesTheTaint) {
  const std::string node = until_pinned(
      {{"/spec/template", {{"spec", {{"tolerations", {{{"key", "shared"}, {"operator", "Exists"}}}}}}}}});
  world.cluster.nodes.at(node).taints = {{"shared", "", "NoSchedule"}};
  world.atoll.run(10, [&] { return world.trains(); });
  ASSERT_TRUE(world.trains());
  EXPECT_EQ(node_of_pod("cora-launcher-1"), node);
}

}  // namespace
}  // namespace atl::ctl
