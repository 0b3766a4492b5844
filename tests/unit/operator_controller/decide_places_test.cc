// A gang's input to its plan, and the words of a job that has no places yet.
#include <functional>
#include <optional>
#include <string>

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

/// It confines the job to no rack, which nobody would see.
TEST_F(DecidePlaces, ALevelWhoseLabelNoNodeHasIsNamed) {
  train(
      {{"/spec/placement/topologyLevels", json::array({"rak", "rack"})}, {"/spec/placement/within", "rak"}});
  EXPECT_THAT(
      find_condition(world.atoll.status().conditions, kPlaced)->message,
      testing::AllOf(HasSubstr("no node has the label rak, so all nodes are one domain of that level"),
                     testing::Not(HasSubstr("label rack"))));
}

/// As where a namespace has a node selector of its own, or a RuntimeClass has one.
void add_to_new_pods(World& world, const std::function<void(json& spec)>& add) {
  world.cluster.others = [&world, add] {
    for (auto& [name, pod] : world.cluster.pods) {
      if (!node_of(pod).empty() || name == "stranger") continue;
      add(pod["spec"]);
      world.cluster.touch(Kind::kPod, name);
    }
  };
}

TEST_F(DecidePlaces, ASelectorThatAdmissionAddsIsKnownFromTheSecondTryOn) {
  for (auto& [name, node] : world.cluster.nodes) node.labels["pool"] = name <= "n2" ? "infra" : "work";
  add_to_new_pods(world, [](json& spec) { spec["nodeSelector"]["pool"] = "work"; });
  submit();
  until_placed();
  EXPECT_EQ(world.atoll.status().servers.at(0).node, "n1") << "nothing tells of the selector yet";
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
  EXPECT_EQ(world.atoll.status().withdrawals, 0) << "of the present start";
}

TEST_F(DecidePlaces, ATolerationThatAdmissionAddsOpensNodes) {
  for (auto& [name, node] : world.cluster.nodes) node.taints = {{"dedicated", "graphs", "NoSchedule"}};
  add_to_new_pods(world, [](json& spec) {
    for (const json& known : spec["tolerations"])
      if (known.value("key", "") == "dedicated") return;
    spec["tolerations"].push_back({{"key", "dedicated"}, {"operator", "Exists"}});
  });
  submit();
  world.run_to_end();
  expect_success(world);
}

TEST_F(DecidePlaces, AReplacementStaysInItsRackWhereEachZoneHasOneOfThatName) {
  for (auto& [name, node] : world.cluster.nodes)
    node.labels["zone"] = node.labels.at("rack"), node.labels["rack"] = "first";
  train({{"/spec/placement/topologyLevels", json::array({"zone", "rack"})},
         {"/spec/placement/within", "rack"}});
  world.kill_node(node_of_pod("cora-1-0"));
  world.atoll.run(90, [&] { return world.atoll.status().restarts.size() == 1; });
  world.atoll.run(60);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1) << "there is room in the other zone's rack alone";
  world.run_to_end(2000);
  EXPECT_EQ(world.atoll.state(), "Succeeded")
      << "after the start deadline the whole gang moves to the other zone";
}

TEST_F(DecidePlaces, NodesWithoutTheLabelAreOneDomainForReplacementsToo) {
  for (auto& [name, node] : world.cluster.nodes) node.labels.erase("rack");
  train({{"/spec/placement/topologyLevels", json::array({"rack"})}, {"/spec/placement/within", "rack"}});
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(12, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(world.cluster.runs["cora"].launches, 2) << "within seconds, as in a rack that has a name";
}

TEST_F(DecidePlaces, WhereOneServerIsReplacedItsGangStillSendsAllBytes) {
  train();
  ASSERT_EQ(world.atoll.status().predicted.inter_server_bytes, 150);
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(12, [&] { return world.cluster.runs["cora"].launches == 2; });
  const Predicted predicted = world.atoll.status().predicted;
  EXPECT_EQ(predicted.inter_server_bytes, 150);
  EXPECT_EQ(predicted.best_possible, std::nullopt) << "the other server could not move";
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

TEST_F(DecidePlaces, WhoeverWaitedForRoomIsToldHowLong) {
  bool has_room = false;
  world.atoll.add = [&](Observed&) {
    world.atoll.view.of.plan = [&](const Gang& gang) {
      GangPlan plan;
      plan.reasons = {"there is no room"};
      return has_room ? plan_gang(gang, world.cluster.snapshot()) : plan;
    };
  };
  submit();
  world.atoll.run(310);
  ASSERT_EQ(world.atoll.state(), "Waiting");
  has_room = true;
  until_placed();
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
              testing::ContainsRegex("servers on .*; it waited [56]m[0-9]+s for room"));
}

TEST_F(DecidePlaces, WhoeverDidNotIsNot) {
  submit();
  until_placed();
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
              testing::Not(HasSubstr("waited")));
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
