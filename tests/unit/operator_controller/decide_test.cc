// Single decisions: what is seen at one moment, and what is done about it and said.
#include "operator/controller/decide.h"

#include <gmock/gmock.h>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// "create cora-keys", in order.
std::vector<std::string> writes(const Decision& decision) {
  std::vector<std::string> all;
  for (const auto& stage : decision.stages)
    for (const Write& write : stage) {
      const char* verb = write.verb == Write::Verb::kCreate  ? "create "
                         : write.verb == Write::Verb::kPatch ? "patch "
                                                             : "delete ";
      all.push_back(verb + write.name);
    }
  return all;
}

Condition condition(const Decision& decision, const char* type) {
  if (!decision.status) return {};
  const Condition* found = find_condition(decision.status->conditions, type);
  return found ? *found : Condition{};
}

/// A job at a point of its life, about which one decision is made.
class Decide : public testing::Test {
 protected:
  World world;

  void submit(Changes changes = {}) { world.atoll.submit(sample_job_json(changes)); }
  void train(Changes changes = {}) {
    submit(changes);
    world.until_training();
  }
  void until_placed() {
    world.atoll.run(600, [&] { return holds(world.atoll.status().conditions, kPlaced); });
  }
  Decision decide_on(const std::function<void(Observed&)>& change = [](Observed&) {}) {
    Observed seen = world.atoll.observe("cora");
    change(seen);
    return decide(seen, world.atoll.settings);
  }
  PodView& pod(Observed& seen, const std::string& name) {
    for (PodView& pod : seen.pods)
      if (pod.meta.name == name) return pod;
    ADD_FAILURE() << name;
    return seen.pods.front();
  }
  std::string node_of_pod(const std::string& name) { return node_of(world.cluster.pods.at(name)); }
};

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
              AllOf(HasSubstr("template.spec.hostNetwork"), HasSubstr("dataset.volume: is missing")));
}

TEST_F(Decide, NobodyElsesObjectIsTouched) {
  submit();
  const Decision decision = decide_on([](Observed& seen) {
    seen.objects.push_back({Kind::kSecret, {.name = "cora-keys", .uid = "x", .owner_uid = "somebody"}, ""});
  });
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_EQ(condition(decision, kCreated).reason, "NameTaken");
  EXPECT_THAT(condition(decision, kCreated).message, HasSubstr("Secret cora-keys"));
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
  });
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_THAT(condition(decision, kRunning).message, "1 of 2 workers are ready");
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
            "cora-1-0 found no room on " + node + ", where team-x-pod stands now");
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

TEST_F(Decide, ANodeThatFailedTwiceIsAvoided) {
  submit();
  json status = json::parse(write_status({}));
  for (const char* time : {"2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"})
    status["restarts"].push_back({{"time", time}, {"culprit", {{"node", "n1"}}}, {"reason", "NodeLost"}});
  world.atoll.job()["status"] = status;
  until_placed();
  for (const ServerPlace& server : world.atoll.status().servers) EXPECT_NE(server.node, "n1");
}

TEST_F(Decide, MemoryThatRanOutIsNoNodesFault) {
  submit();
  json status = json::parse(write_status({}));
  for (const char* time : {"2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"})
    status["restarts"].push_back({{"time", time}, {"culprit", {{"node", "n1"}}}, {"reason", "OOMKilled"}});
  world.atoll.job()["status"] = status;
  until_placed();
  EXPECT_EQ(world.atoll.status().servers.at(0).node, "n1");
}

TEST_F(Decide, AnEvictionIsNotCounted) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    PodView& lost = pod(seen, "cora-1-0");
    lost.phase = "Failed";
    lost.reason = "Evicted";
    lost.message = "the node was low on memory";
  });
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->failures, 0);
  EXPECT_EQ(decision.status->attempt, 2);
  EXPECT_EQ(decision.status->restarts.back().reason, "Evicted");
  EXPECT_THAT(condition(decision, kRestarting).message, HasSubstr("the node was low on memory"));
  EXPECT_THAT(writes(decision), IsEmpty()) << "first the attempt moves on";
}

TEST_F(Decide, TheCulpritIsWhomTheLauncherNamesForTheReasonThatItsPodKnows) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    PodView& launcher = pod(seen, "cora-launcher-1");
    launcher.phase = "Failed";
    launcher.containers = {{.name = kEngine,
                            .ended = true,
                            .exit_code = 137,
                            .message = R"({"status":137,"culprit":{"rank":2,"pod":"cora-1-0","signal":9}})"}};
    PodView& worker = pod(seen, "cora-1-0");
    worker.phase = "Failed";
    worker.containers = {{.name = kEngine, .ended = true, .exit_code = 137, .reason = "OOMKilled"}};
    seen.job.status.progress.last_checkpoint_epoch = 100;
  });
  ASSERT_TRUE(decision.status);
  const Restart& restart = decision.status->restarts.back();
  EXPECT_EQ(restart.reason, "OOMKilled");
  EXPECT_EQ(restart.culprit, (Culprit{2, "SIGKILL", "cora-1-0", node_of_pod("cora-1-0")}));
  EXPECT_EQ(restart.resumed_from, 100);
  EXPECT_EQ(decision.status->failures, 1);
}

TEST_F(Decide, APodThatIsAskedToLeaveMayFinishItsCheckpoint) {
  train();
  const Decision decision =
      decide_on([&](Observed& seen) { pod(seen, "cora-1-0").meta.deletion = seen.now + Seconds(100); });
  EXPECT_FALSE(decision.status);
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_EQ(decision.look_again, world.cluster.now + Seconds(100));
}

TEST_F(Decide, AHangingJobRestartsAndNamesTheRankThatStalled) {
  train({{"/spec/runPolicy/progressDeadlineSeconds", 60}});
  auto hear = [&](int seconds_ago) {
    return decide_on([&, seconds_ago](Observed& seen) {
      seen.job.status.conditions[2].changed = seen.now - Seconds(500);
      for (Condition& c : seen.job.status.conditions) c.changed = seen.now - Seconds(500);
      seen.heard = Heard{{.epoch = 7, .epochs = 200}, seen.now - Seconds(seconds_ago), 3};
    });
  };
  EXPECT_EQ(hear(59).status->progress.epoch, 7);
  EXPECT_FALSE(ctl::holds(hear(59).status->conditions, kRestarting));
  const Decision stalled = hear(60);
  EXPECT_EQ(stalled.status->restarts.back().reason, "Stalled");
  EXPECT_EQ(stalled.status->restarts.back().culprit, (Culprit{3, "", "cora-1-0", node_of_pod("cora-1-0")}));
  EXPECT_EQ(stalled.status->failures, 1);
}

TEST_F(Decide, SilenceOfRankZeroAloneIsNoStall) {
  train({{"/spec/runPolicy/progressDeadlineSeconds", 1}});
  EXPECT_TRUE(decide_on().is_empty());
}

TEST_F(Decide, APodThatHangsOnASilentNodeIsForcedOutAfterTheAttemptHasMovedOn) {
  train();
  world.cluster.training.seconds = 100000;
  world.kill_node(node_of_pod("cora-1-0"));
  world.atoll.run(40);
  ASSERT_TRUE(world.cluster.pods.contains("cora-1-0"));
  EXPECT_EQ(world.atoll.status().attempt, 2);
  world.atoll.run(200);
  EXPECT_FALSE(world.cluster.pods.contains("cora-1-0"));
}

TEST_F(Decide, TheLauncherThatWasGivenUpGoesBeforeTheNextStarts) {
  train();
  world.cluster.training.seconds = 1000;
  world.atoll.job()["status"]["attempt"] = 2;
  const Decision decision = decide_on();
  ASSERT_THAT(writes(decision), ElementsAre("delete cora-launcher-1", "delete cora-attempt-1"));
  EXPECT_EQ(decision.stages[0][0].grace, 10);
  world.atoll.work();  // the fake cluster objects to two launchers at once
  EXPECT_TRUE(is_gated(read_pod(world.cluster.pods.at("cora-launcher-2").dump())));
  world.atoll.run(10);
  EXPECT_TRUE(world.cluster.is_running("cora-launcher-2"));
}

TEST_F(Decide, TheLastLauncherThatFailedStaysForItsLog) {
  train();
  world.cluster.end_pod("cora-launcher-1", 1, "Error", R"({"status":1})");
  world.atoll.run(10);
  world.cluster.end_pod("cora-launcher-2", 1, "Error", R"({"status":1})");
  world.atoll.run(30);
  EXPECT_THAT(world.cluster.pods_of("cora", kLauncherRole),
              ElementsAre("cora-launcher-2", "cora-launcher-3"));
}

TEST_F(Decide, RestartsInQuickSuccessionWaitLongerEachTime) {
  train();
  auto wait_after = [&](int restarts) {
    const Decision decision = decide_on([&](Observed& seen) {
      seen.pods.clear();
      std::erase_if(seen.objects, [](const ObjectView& o) { return o.meta.name == "cora-attempt-1"; });
      for (int i = restarts; i-- > 0;)
        seen.job.status.add_restart({seen.now - Seconds(100 * i), {}, "Exit", {}});
      seen.job.status.attempt = restarts + 1;
    });
    EXPECT_EQ(decision.look_again.has_value(), writes(decision).empty());
    return decision.look_again.value_or(world.cluster.now) - world.cluster.now;
  };
  EXPECT_EQ(wait_after(1), Seconds(0));
  for (const auto& [restarts, seconds] : {std::pair{2, 10}, {3, 20}, {4, 40}, {9, 300}})
    EXPECT_THAT(wait_after(restarts).count(), AllOf(testing::Ge(seconds), testing::Le(seconds + 3)))
        << restarts;
}

TEST_F(Decide, LostKeysMeanNewPods) {
  submit();
  world.atoll.run(600, [&] { return world.cluster.is_running("cora-1-0"); });
  const Decision decision = decide_on([](Observed& seen) {
    std::erase_if(seen.objects, [](const ObjectView& o) {
      return o.kind == Kind::kSecret || o.meta.name == "cora-attempt-1";
    });
    for (PodView& pod : seen.pods)
      if (pod.meta.label(kRoleLabel) == kLauncherRole) pod.gates = {kGate};
  });
  EXPECT_THAT(writes(decision),
              AllOf(Contains("create cora-keys"), Contains("delete cora-0-0"), Contains("delete cora-1-0")));
}

TEST_F(Decide, CleanPodPolicyChoosesWhoGoes) {
  const std::pair<const char*, std::vector<std::string>> cases[] = {
      {"Running", {"delete cora-0-0", "delete cora-1-0"}},
      {"All", {"delete cora-0-0", "delete cora-1-0", "delete cora-launcher-1"}},
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

TEST_F(Decide, TheLauncherGoesBeforeTheWorkersOfASuspendedJob) {
  train();
  world.suspend(true);
  const Decision decision = decide_on();
  EXPECT_THAT(writes(decision), ElementsAre("delete cora-launcher-1"));
  EXPECT_EQ(decision.stages[0][0].grace, std::nullopt) << "its own grace: time for a checkpoint";
  EXPECT_FALSE(condition(decision, kSuspended).holds);
}

TEST_F(Decide, ALostServerIsWaitedForUntilItsNodesFateIsKnown) {
  train();
  const std::string node = node_of(world.cluster.pods.at("cora-1-0"));
  world.cluster.end_pod(
      "cora-launcher-1", 1, "Error",
      R"({"status":1,"culprit":{"rank":2,"pod":"cora-1-0","node":")" + node + R"(","answers":false}})");
  world.atoll.run(5);
  const Status waiting = world.atoll.status();
  EXPECT_THAT(waiting.restarts, IsEmpty()) << "the node is still called ready";
  EXPECT_EQ(find_condition(waiting.conditions, kRunning)->reason, "Lost");
  EXPECT_EQ(waiting.attempt, 1);

  const Decision dead = decide_on([&](Observed& seen) { seen.nodes.at(node) = {false, seen.now, {}}; });
  ASSERT_EQ(dead.status->restarts.size(), 1U);
  EXPECT_EQ(dead.status->restarts[0].reason, "NodeLost");
  EXPECT_EQ(dead.status->restarts[0].culprit, (Culprit{2, "", "cora-1-0", node}));

  const Decision patient = decide_on([](Observed& seen) { seen.now += Seconds(60); });
  ASSERT_EQ(patient.status->restarts.size(), 1U);
  EXPECT_EQ(patient.status->restarts[0].reason, "Lost");
  EXPECT_EQ(patient.status->failures, 0);
}

TEST_F(Decide, TheSupervisorOfAKilledRankHasItsSay) {
  train();
  world.cluster.end_pod("cora-launcher-1", 137, "Error",
                        R"({"status":137,"culprit":{"rank":3,"pod":"cora-1-0","node":"n2","signal":9}})");
  world.atoll.run(2);
  EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
  const Decision patient = decide_on([](Observed& seen) { seen.now += Seconds(5); });
  ASSERT_EQ(patient.status->restarts.size(), 1U);
  EXPECT_EQ(patient.status->restarts[0].reason, "Signal");

  world.cluster.end_pod("cora-1-0", 137, "Error", R"({"rank":3,"signal":9,"reason":"OOMKilled"})");
  world.atoll.run(1);
  ASSERT_EQ(world.atoll.status().restarts.size(), 1U);
  EXPECT_EQ(world.atoll.status().restarts[0].reason, "OOMKilled");
}

TEST_F(Decide, APodThatWasLostBeforeIsNotToBlameAgain) {
  train({{"/spec/runPolicy/cleanPodPolicy", "Running"}});
  world.kill_node(node_of(world.cluster.pods.at("cora-1-0")));
  world.atoll.run(90, [&] { return world.cluster.runs["cora"].launches == 2; });
  ASSERT_EQ(world.cluster.runs["cora"].launches, 2);
  Observed seen = world.atoll.observe("cora");
  PodView hanging = pod(seen, "cora-1-1");  // as the lost one still stands there
  hanging.meta.name = "cora-1-0", hanging.meta.uid = "lost", hanging.meta.labels[kIncarnationLabel] = "0";
  hanging.node = world.atoll.status().restarts[0].culprit.node;
  Status known = seen.job.status;
  known.restarts[0].culprit.pod = "cora-launcher-1";
  world.cluster.end_pod("cora-launcher-2", 1, "Error", R"({"status":1,"message":"the port is in use"})");
  const Decision decision = decide_on([&](Observed& now) {
    now.job.status = known;
    now.pods.push_back(hanging);
  });
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->restarts.back().reason, "Exit");
}

TEST_F(Decide, EachChangeIsToldOnce) {
  std::vector<std::string> told;
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : decide(seen, world.atoll.settings).events)
      told.push_back((event.is_warning ? "! " : "") + event.reason + ": " + event.message);
  };
  submit();
  world.until_training();
  world.cluster.end_pod("cora-1-0", 137, "OOMKilled", R"({"rank":3,"signal":9,"reason":"OOMKilled"})");
  world.run_to_end();
  const std::vector<std::string> last(told.end() - 6, told.end());
  EXPECT_THAT(last, ElementsAre(HasSubstr("! OOMKilled: rank 3 in pod cora-1-0"), HasSubstr("! Replacing: "),
                                HasSubstr("Planned: "), HasSubstr("Starting: "),
                                "Training: 4 ranks on 2 servers, attempt 2",
                                "Completed: training has ended: completed"));
  EXPECT_THAT(told, Contains("Training: 4 ranks on 2 servers, attempt 1"));
}

TEST_F(Decide, ALauncherThatHasJustEndedDoesNotStart) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    for (ContainerView& container : pod(seen, "cora-launcher-1").containers)
      container.running = false, container.ended = true;
  });
  EXPECT_FALSE(decision.status) << "until its pod has ended too";
}

TEST_F(Decide, WhatIsOnItsWayIsNoWarning) {
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : decide(seen, world.atoll.settings).events)
      EXPECT_FALSE(event.is_warning) << event.reason << ": " << event.message;
  };
  submit();
  world.until_training();
  world.suspend(true);
  world.atoll.run(30, [&] { return world.atoll.state() == "Suspended"; });
}

TEST_F(Decide, BadNewsAreWarnings) {
  submit();
  for (const char* node : {"n1", "n2", "n3"})
    world.cluster.occupy(node, 3000, std::string("stranger-") + node);
  bool has_warned = false;
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : decide(seen, world.atoll.settings).events)
      if (event.reason == "NoRoom") has_warned |= event.is_warning;
  };
  world.atoll.run(20);
  EXPECT_TRUE(has_warned);
  EXPECT_THAT(decide_on().events, IsEmpty()) << "said once";
}

}  // namespace
}  // namespace atl::ctl
