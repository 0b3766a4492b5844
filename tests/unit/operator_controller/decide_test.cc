// Single decisions: given what is seen at one moment, what the operator does and says.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(Decide, NothingAboutAJobThatIsBeingDeleted) {
  train();
  const Decision decision = decide_on([](Observed& seen) {
    seen.job.meta.deletion = seen.now;
    seen.pods.clear();
  });
  EXPECT_TRUE(decision.is_empty());
}

TEST_F(Decide, ASecondLookAtTheSameThingDoesNothing) {
  train();
  EXPECT_TRUE(decide_on().is_empty());
}

TEST_F(Decide, AManifestThatTheEngineRefusesFailsInItsWords) {
  submit({{"/spec/placement/ranksPerServer", 3}});
  const Decision decision = decide_on();
  EXPECT_EQ(condition(decision, kFailed).reason, "InvalidSpec");
  EXPECT_EQ(condition(decision, kFailed).message,
            "placement.ranksPerServer: 3 does not divide placement.ranks 4 (use 1, 2 or 4)");
  EXPECT_TRUE(decision.status->completion);
  EXPECT_THAT(writes(decision), IsEmpty());
}

TEST_F(Decide, WhatOnlyAClusterRefusesIsNamedToo) {
  submit({{"/spec/dataset", {{"name", "cora"}}}, {"/spec/template", {{"spec", {{"hostNetwork", true}}}}}});
  EXPECT_THAT(condition(decide_on(), kFailed).message,
              AllOf(HasSubstr("template.spec.hostNetwork"), HasSubstr("dataset.volume: is required on a "
                                                                      "cluster")));
}

TEST_F(Decide, NobodyElsesObjectIsTouched) {
  submit();
  const Decision decision = decide_on([](Observed& seen) {
    seen.objects.push_back({Kind::kNetworkPolicy, {.name = "cora", .uid = "x", .owner_uid = "somebody"}});
  });
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_EQ(condition(decision, kCreated).reason, "NameTaken");
  EXPECT_THAT(condition(decision, kCreated).message, HasSubstr("NetworkPolicy cora"));
}

TEST_F(Decide, APodOfAnEarlierJobOfTheSameNameIsNobodys) {
  submit();
  world.atoll.run(30);
  const Decision decision = decide_on([&](Observed& seen) {
    seen.job.meta.uid = "another-uid";
    seen.job.status = {};
  });
  EXPECT_EQ(condition(decision, kCreated).reason, "NameTaken");
  EXPECT_THAT(writes(decision), IsEmpty());
}

TEST_F(Decide, WhatTheApiServerRefusesIsSaid) {
  submit();
  world.atoll.add = [](Observed& seen) { seen.refusals = {{"Pod cora-1-0", "exceeded quota: team"}}; };
  world.atoll.run(10);
  const Status status = world.atoll.status();
  const Condition* created = find_condition(status.conditions, kCreated);
  ASSERT_TRUE(created && !created->holds);
  EXPECT_EQ(created->reason, "Refused");
  EXPECT_EQ(created->message, "Pod cora-1-0 is refused by the API server: exceeded quota: team");
}

TEST_F(Decide, EveryPodIsPinnedWhereItsPlanSays) {
  submit();
  until_placed();
  const Status status = world.atoll.status();
  for (int server = 0; server < 2; ++server) {
    const PodView pod = read_pod(world.cluster.pods.at(worker_name("cora", server, 0)).dump());
    EXPECT_EQ(pod.pinned, status.servers[std::size_t(server)].node);
    EXPECT_FALSE(is_gated(pod));
  }
  const PodView launcher = read_pod(world.cluster.pods.at("cora-launcher-1").dump());
  EXPECT_TRUE(is_gated(launcher));
  EXPECT_NE(launcher.pinned, "") << "its place is kept for it";
  EXPECT_EQ(status.predicted.inter_server_bytes, 150) << "what the prepare step found";
}

TEST_F(Decide, TheLauncherWaitsForTheLastWorker) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    seen.objects.erase(std::remove_if(seen.objects.begin(), seen.objects.end(),
                                      [](const ObjectView& o) { return o.meta.name == "cora-attempt-1"; }),
                       seen.objects.end());
    pod(seen, "cora-launcher-1").gates = {kGate};
    pod(seen, "cora-launcher-1").containers.clear();
    pod(seen, "cora-1-0").ready = false;
    seen.now += Seconds(20);
  });
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_THAT(condition(decision, kRunning).message, "waiting for cora-1-0 on n2: not ready");
}

TEST_F(Decide, OfSlowWorkersTheOneThatWasNamedStaysSo) {
  submit();
  until_placed();
  for (auto& [name, node] : world.cluster.nodes) node.pulls_images = false;
  world.atoll.run(60);
  const Decision decision = decide_on([&](Observed& seen) {
    set_condition(seen.job.status.conditions,
                  {kRunning, false, "Starting", "waiting for cora-1-0 on n2", seen.now, 1});
  });
  EXPECT_THAT(condition(decision, kRunning).message, HasSubstr("cora-1-0 on n2: ImagePullBackOff"));
}

TEST_F(Decide, WhoTookTheRoomIsNamed) {
  submit();
  until_placed();
  const std::string node = world.atoll.status().servers[1].node;
  world.cluster.occupy(node, 3000, "team-x-pod");
  world.atoll.run(40, [&] { return !holds(world.atoll.status().conditions, kPlaced); });
  const Status status = world.atoll.status();
  EXPECT_EQ(find_condition(status.conditions, kPlaced)->reason, "Withdrawn");
  EXPECT_EQ(find_condition(status.conditions, kPlaced)->message,
            "cora-1-0 was not bound to " + node +
                "; the scheduler says: no node has 3 cpu; team-x-pod stands there now");
}

TEST_F(Decide, WhatNoPlanSeesIsTriedEverMoreRarely) {
  world.cluster.hinder = [](const json& pod) -> std::optional<std::string> {
    if (label_of(pod, kRoleLabel) != kWorkerRole) return {};
    return "persistentvolumeclaim \"data\" not found";
  };
  submit();
  std::vector<Seconds> waits;
  const auto is_placed = [&] { return holds(world.atoll.status().conditions, kPlaced); };
  world.atoll.run(300, is_placed);
  while (waits.size() < 5) {
    world.atoll.run(60, [&] { return !is_placed(); });
    const Moment withdrawn = world.cluster.now;
    world.atoll.run(600, is_placed);
    waits.push_back(world.cluster.now - withdrawn);
  }
  for (std::size_t n = 0; n < waits.size(); ++n) EXPECT_GE(waits[n], Seconds(2 << n)) << n;
  EXPECT_EQ(world.atoll.status().withdrawals, 5);
  world.cluster.hinder = [](const json&) { return std::nullopt; };
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.atoll.status().withdrawals, 0) << "it has run";
}

TEST_F(Decide, AVolumeThatIsMadeForAPodTakesItsTime) {
  world.cluster.hinder = [](const json& pod) -> std::optional<std::string> {
    if (label_of(pod, kRoleLabel) != kWorkerRole) return {};
    return "";
  };
  submit();
  until_placed();
  world.atoll.run(250);
  EXPECT_TRUE(holds(world.atoll.status().conditions, kPlaced)) << "nobody has anything against its pods";
  world.atoll.run(60, [&] { return !holds(world.atoll.status().conditions, kPlaced); });
  EXPECT_EQ(find_condition(world.atoll.status().conditions, kPlaced)->reason, "Withdrawn");
}

TEST_F(Decide, AReplacementThatFindsNoRoomLeavesTheHealthyAlone) {
  train();
  const std::string healthy = world.cluster.pods.at("cora-0-0").at("metadata").at("uid");
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(20, [&] {
    return world.cluster.pods.contains("cora-1-1") &&
           !is_gated(read_pod(world.cluster.pods.at("cora-1-1").dump()));
  });
  world.cluster.occupy(world.atoll.status().servers[1].node, 3000);
  world.atoll.run(120, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(world.cluster.runs["cora"].launches, 2);
  EXPECT_EQ(world.cluster.pods.at("cora-0-0").at("metadata").at("uid"), healthy);
}

TEST_F(Decide, AReplacementStandsAsNearAsItCan) {
  train({{"/spec/placement/topologyLevels", {"rack", "kubernetes.io/hostname"}}});
  const std::string kept = node_of_pod("cora-0-0"), lost = node_of_pod("cora-1-0");
  const auto rack = [&](const std::string& node) { return world.cluster.nodes.at(node).labels.at("rack"); };
  ASSERT_EQ(rack(kept), rack(lost)) << "both in one rack at first";
  world.cluster.nodes["n0"] = world.cluster.nodes.at(kept);  // another node of that rack
  world.cluster.nodes["n0"].labels["kubernetes.io/hostname"] = "n0";
  world.kill_node(lost);
  world.atoll.run(90, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(node_of_pod("cora-1-1"), "n0");
}

TEST_F(Decide, ADomainThatMustHoldAllHoldsReplacementsToo) {
  train({{"/spec/placement/topologyLevels", {"rack", "kubernetes.io/hostname"}},
         {"/spec/placement/within", "rack"}});
  world.kill_node(node_of_pod("cora-1-0"));
  world.atoll.run(90, [&] { return world.atoll.status().restarts.size() == 1; });
  world.atoll.run(60);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1) << "no room is left in the rack";
  world.run_to_end(2000);
  EXPECT_EQ(world.atoll.state(), "Succeeded")
      << "after the start deadline the whole gang moves to the other rack";
}

TEST_F(Decide, LostKeysMeanNewPods) {
  submit();
  world.atoll.run(600, [&] { return world.cluster.is_running("cora-1-0"); });
  const Decision decision = decide_on([](Observed& seen) {
    std::erase_if(seen.objects, [](const ObjectView& o) { return o.meta.name == "cora-attempt-1"; });
    std::erase_if(seen.pods, [](const PodView& pod) { return pod.meta.label(kRoleLabel) == kLauncherRole; });
    seen.secret = SecretAnswer{true};
  });
  EXPECT_THAT(writes(decision), AllOf(Contains("create cora-keys-1"), Contains("delete cora-0-0"),
                                      Contains("delete cora-1-0")));
}

TEST_F(Decide, CleanPodPolicyChoosesWhoGoes) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"Running", {"delete cora-0-0", "delete cora-1-0"}},
      {"All", {"delete cora-0-0", "delete cora-1-0", "delete cora-launcher-1", "delete cora-prepare"}},
      {"None", {}}};
  train();
  for (const auto& [policy, wanted] : cases) {
    world.atoll.job()["spec"]["runPolicy"]["cleanPodPolicy"] = policy;
    const Decision decision = decide_on([&](Observed& seen) {
      pod(seen, "cora-launcher-1").phase = "Succeeded";
      seen.job.status.conditions = {{kSucceeded, true, "Completed", "", seen.now, 1}};
    });
    EXPECT_EQ(writes(decision), wanted) << policy;
    EXPECT_FALSE(decision.status);
  }
}

TEST_F(Decide, ALauncherIsStoppedWhateverThePolicyOfAJobThatFailed) {
  train({{"/spec/runPolicy/cleanPodPolicy", "None"}});
  const Decision decision = decide_on([&](Observed& seen) {
    seen.job.status.conditions = {{kFailed, true, "DeadlineExceeded", "", seen.now, 1}};
  });
  EXPECT_THAT(writes(decision), ElementsAre("delete cora-launcher-1"));
}

TEST_F(Decide, NothingIsMadeForAJobThatBeginsSuspended) {
  submit({{"/spec/runPolicy/suspend", true}});
  const Decision decision = decide_on();
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_TRUE(condition(decision, kSuspended).holds);
}

TEST_F(Decide, AJobThatCompletesOnItsWayToBeSuspendedIsNotSuspendingAnyMore) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    set_condition(seen.job.status.conditions, {kSuspended, false, "Suspending", "", seen.now, 1});
    pod(seen, "cora-launcher-1").phase = "Succeeded";
  });
  EXPECT_TRUE(condition(decision, kSucceeded).holds);
  EXPECT_EQ(condition(decision, kSuspended).reason, "Completed");
}

TEST_F(Decide, TheLauncherGoesBeforeTheWorkersOfASuspendedJob) {
  train();
  world.suspend(true);
  const Decision decision = decide_on();
  EXPECT_THAT(writes(decision), ElementsAre("delete cora-launcher-1"));
  EXPECT_EQ(decision.stages[0][0].grace, std::nullopt) << "its own grace: time for a checkpoint";
  EXPECT_FALSE(condition(decision, kSuspended).holds);
}

}  // namespace
}  // namespace atl::ctl
