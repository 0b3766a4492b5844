// A gang's input to its plan, and the words of a job that has no places yet.
#include "operator/objects/objects.h"
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;

using DecidePlaces = Decide;

TEST_F(DecidePlaces, OnlyNodesThatTheEnginesImageRunsOnAreUsed) {
  world.atoll.settings.architectures = {"amd64"};
  for (auto& [name, node] : world.cluster.nodes) {
    node.labels[kSystemLabel] = name == "n2" ? "windows" : kSystem;
    node.labels[kArchitectureLabel] = name == "n1" ? "arm64" : "amd64";
  }
  submit();
  until_placed();
  for (const ServerPlace& server : world.atoll.status().servers)
    EXPECT_THAT(server.node, testing::AnyOf("n3", "n4"));
  world.run_to_end();
  expect_success(world);
}

TEST_F(DecidePlaces, OfAnyArchitectureTheyRunLinux) {
  world.cluster.nodes["n2"].labels[kSystemLabel] = "windows";
  for (const char* node : {"n1", "n3"}) world.cluster.nodes[node].labels[kArchitectureLabel] = "riscv64";
  submit();
  until_placed();
  for (const ServerPlace& server : world.atoll.status().servers) EXPECT_NE(server.node, "n2");
  world.run_to_end();
  expect_success(world);
}

TEST_F(DecidePlaces, WhereNoNodeIsOfTheImagesArchitectureItSaysSo) {
  world.atoll.settings.architectures = {"arm64", "riscv64"};
  for (auto& [name, node] : world.cluster.nodes)
    node.labels[kSystemLabel] = kSystem, node.labels[kArchitectureLabel] = "amd64";
  submit();
  world.atoll.run(1);
  const auto prepared = world.atoll.observe("cora").job.made_of.prepared;
  world.cluster.create(
      Kind::kConfigMap, prepared_map_name("cora", prepared),
      parse_json(prepared_config_map(world.atoll.observe("cora").job, R"({"ranks":4,"flows":[]})")));
  world.atoll.run(20);
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
              HasSubstr("n1 has not kubernetes.io/arch=arm64 or riscv64"));
}

TEST_F(DecidePlaces, PairsOfServersThatAreNotListedExchangeWhatTheOthersDo) {
  submit({{"/spec/placement", {{"ranks", 8}, {"ranksPerServer", 2}}}});
  world.atoll.run(1);
  const GnnJob job = world.atoll.observe("cora").job;
  world.cluster.create(
      Kind::kConfigMap, prepared_map_name("cora", job.made_of.prepared),
      parse_json(prepared_config_map(job, R"({"ranks":8,"flows":[[0,4,100],[2,6,0]],"unlistedFlow":7})")));
  double total = 0, most = 0;
  world.atoll.add = [&](Observed&) {
    world.atoll.view.of.plan = [&](const Gang& gang) {
      total = gang.traffic.total_bytes();
      for (const auto& [peer, bytes] : gang.traffic.peers(0)) most = std::max(most, bytes);
      return GangPlan{};
    };
  };
  world.atoll.run(20);
  EXPECT_EQ(total, 100 + 4 * 7) << "six pairs, of which one is silent";
  EXPECT_EQ(most, 100);
}

TEST_F(DecidePlaces, TheStateSaysWhatIsWaitedFor) {
  submit({{"/spec/placement/ranks", 16}});
  world.atoll.run(2);
  EXPECT_EQ(world.atoll.state(), "Preparing");
  world.atoll.run(60);
  EXPECT_EQ(world.atoll.state(), "Waiting");
}

TEST_F(DecidePlaces, TheStateSaysWhatIsRefused) {
  world.cluster.refuse = [](Kind kind, const json&) { return kind == Kind::kPod ? "exceeded quota" : ""; };
  submit();
  world.atoll.run(5);
  EXPECT_EQ(world.atoll.state(), "Refused");
}

}  // namespace
}  // namespace atl::ctl
