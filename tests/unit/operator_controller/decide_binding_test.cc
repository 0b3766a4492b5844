// Released pods that the scheduler doesn't bind: how long the operator waits for them, and by whose clock.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using DecideBinding = Decide;

const Changes kWithoutClaims = {{"/spec/dataset/volume", {{"nfs", {{"server", "files"}, {"path", "/data"}}}}},
                                {"/spec/output/volume", {{"nfs", {{"server", "files"}, {"path", "/out"}}}}}};

TEST_F(DecideBinding, ASchedulerThatIsAwayIsWaitedFor) {
  world.cluster.hinder = [](const json& pod) -> std::optional<std::string> {
    if (label_of(pod, kRoleLabel) != kWorkerRole) return {};
    return "";
  };
  submit(kWithoutClaims);
  until_placed();
  world.atoll.run(250);
  EXPECT_TRUE(holds(world.atoll.status().conditions, kPlaced)) << "it hasn't looked at the pods yet";
  world.cluster.hinder = [](const json&) { return std::nullopt; };
  world.run_to_end();
  expect_success(world);
}

TEST_F(DecideBinding, TheTimeToBindCountsFromTheSchedulersFirstWord) {
  Moment speaks = kBegin + Seconds(1000);
  world.cluster.hinder = [&](const json& pod) -> std::optional<std::string> {
    if (label_of(pod, kRoleLabel) != kWorkerRole) return {};
    return world.cluster.now < speaks ? "" : "0/4 nodes are available";
  };
  submit(kWithoutClaims);
  until_placed();
  world.atoll.run(100);
  ASSERT_TRUE(holds(world.atoll.status().conditions, kPlaced));
  speaks = world.cluster.now + Seconds(1);
  world.atoll.run(29);
  EXPECT_TRUE(holds(world.atoll.status().conditions, kPlaced));
  world.atoll.run(5, [&] { return !holds(world.atoll.status().conditions, kPlaced); });
  EXPECT_EQ(find_condition(world.atoll.status().conditions, kPlaced)->reason, "Withdrawn");
}

TEST_F(DecideBinding, NobodyIsAskedWhoStandsThereBeforeTheTimeIsUp) {
  world.cluster.hinder = [](const json& pod) -> std::optional<std::string> {
    if (label_of(pod, kRoleLabel) != kWorkerRole) return {};
    return "0/4 nodes are available";
  };
  submit({{"/spec/placement", {{"ranks", 16}, {"ranksPerServer", 1}}}, {"/spec/resources", {{"cpu", 0.5}}}});
  until_placed();
  world.cluster.tick();
  int asked = 0;
  const auto after = [&](int seconds) {
    asked = 0;
    decide_on([&](Observed& seen) {
      seen.now += Seconds(seconds);
      world.atoll.view.of.other_pods = [&](const std::string&) {
        ++asked;
        return std::vector<std::string>{"app"};
      };
    });
    return asked;
  };
  EXPECT_EQ(after(10), 0);
  EXPECT_EQ(after(40), 5) << "as many as are named";
}

}  // namespace
}  // namespace atl::ctl
