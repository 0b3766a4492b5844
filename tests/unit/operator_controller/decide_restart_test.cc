// Single decisions about an attempt that has ended, or should: who is to blame, what counts, what is removed
// before the next one.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using DecideRestart = Decide;

TEST_F(DecideRestart, ANodeThatFailedTwiceLongAgoIsUsedAgain) {
  submit();
  json status = parse_json(write_status({}));
  for (const char* time : {"2026-03-01T10:30:00Z", "2026-03-01T11:30:00Z"})
    status["restarts"].push_back({{"time", time}, {"culprit", {{"node", "n1"}}}, {"reason", "NodeLost"}});
  world.atoll.job()["status"] = status;
  until_placed();
  EXPECT_EQ(world.atoll.status().servers.at(0).node, "n1");
}

TEST_F(DecideRestart, ANodeThatFailedTwiceIsAvoided) {
  submit();
  json status = parse_json(write_status({}));
  for (const char* time : {"2026-03-01T11:15:00Z", "2026-03-01T11:45:00Z"})
    status["restarts"].push_back({{"time", time}, {"culprit", {{"node", "n1"}}}, {"reason", "NodeLost"}});
  world.atoll.job()["status"] = status;
  until_placed();
  for (const ServerPlace& server : world.atoll.status().servers) EXPECT_NE(server.node, "n1");
}

TEST_F(DecideRestart, MemoryThatRanOutIsNoNodesFault) {
  submit();
  json status = parse_json(write_status({}));
  for (const char* time : {"2026-03-01T10:00:00Z", "2026-03-01T11:00:00Z"})
    status["restarts"].push_back({{"time", time}, {"culprit", {{"node", "n1"}}}, {"reason", "OOMKilled"}});
  world.atoll.job()["status"] = status;
  until_placed();
  EXPECT_EQ(world.atoll.status().servers.at(0).node, "n1");
}

TEST_F(DecideRestart, AnEvictionIsNotCounted) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    PodView& lost = pod(seen, "cora-1-0");
    lost.phase = "Failed";
    lost.reason = "Evicted";
    lost.disruption = "TerminationByKubelet";
    lost.message = "the node was low on memory";
  });
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->failures, 0);
  EXPECT_EQ(decision.status->attempt, 2);
  EXPECT_EQ(decision.status->restarts.back().reason, "Evicted");
  EXPECT_THAT(condition(decision, kRestarting).message, HasSubstr("the node was low on memory"));
  EXPECT_THAT(writes(decision), IsEmpty()) << "first the attempt moves on";
}

/// Kubelet's words for a pod that outgrew a limit of its own: it says of no disruption. The pod knows only
/// that it was asked to stop.
void outgrow(PodView& pod) {
  pod.phase = "Failed";
  pod.containers = {{.name = kEngine,
                     .ended = true,
                     .exit_code = 130,
                     .message = R"({"reason":"Stopped","message":"asked to stop"})"}};
  pod.reason = "Evicted";
  pod.message = "Usage of EmptyDir volume \"shm\" exceeds the limit \"128Mi\".";
}

TEST_F(DecideRestart, AnEvictionForItsOwnFilesIsCounted) {
  train();
  const Decision decision = decide_on([&](Observed& seen) { outgrow(pod(seen, "cora-1-0")); });
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->failures, 1);
  EXPECT_EQ(decision.status->restarts.back().reason, "OverLimit");
  EXPECT_THAT(condition(decision, kRestarting).message, HasSubstr("exceeds the limit"));
}

TEST_F(DecideRestart, APreparePodThatOutgrowsItsLimitIsCounted) {
  submit();
  world.atoll.run(1);
  ASSERT_TRUE(world.cluster.pods.contains("cora-prepare"));
  const Decision decision = decide_on([&](Observed& seen) { outgrow(pod(seen, "cora-prepare")); });
  ASSERT_TRUE(decision.status);
  EXPECT_EQ(decision.status->failures, 1);
  EXPECT_EQ(decision.status->restarts.back().reason, "OverLimit");
}

TEST_F(DecideRestart, SoManyDisruptionsEndAJob) {
  world.cluster.training.seconds = 100'000;
  train({{"/spec/runPolicy", {{"maxDisruptions", 3}}}});
  for (int n = 1; n <= 4 && !world.has_ended(); ++n) {
    const auto workers = world.cluster.pods_of("cora", kWorkerRole);
    world.cluster.pods.erase(workers.back());
    world.cluster.is_changed = true;
    world.atoll.run(
        400, [&] { return world.has_ended() || (world.trains() && world.atoll.status().attempt == n + 1); });
    EXPECT_EQ(world.has_ended(), n == 4) << n;
  }
  ASSERT_TRUE(world.has_ended());
  const Status status = world.atoll.status();
  EXPECT_EQ(status.disruptions, 4);
  EXPECT_EQ(status.failures, 0);
  EXPECT_EQ(find_condition(status.conditions, kFailed)->reason, "TooManyDisruptions");
  EXPECT_THAT(find_condition(status.conditions, kFailed)->message,
              HasSubstr("this was disruption 4, and runPolicy.maxDisruptions allows 3"));
}

TEST_F(DecideRestart, WithoutALimitDisruptionsGoOn) {
  train({{"/spec/runPolicy", {{"maxDisruptions", 0}}}});
  const Decision decision = decide_on([&](Observed& seen) {
    seen.job.status.disruptions = 1'000'000;
    std::erase_if(seen.pods, [](const PodView& pod) { return pod.meta.name == "cora-1-0"; });
  });
  ASSERT_TRUE(decision.status);
  EXPECT_FALSE(has_ended(decision.status->conditions));
}

TEST_F(DecideRestart, TheCulpritIsWhomTheLauncherNamesForTheReasonThatItsPodKnows) {
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

TEST_F(DecideRestart, APodThatIsAskedToLeaveMayFinishItsCheckpoint) {
  train();
  const Decision decision =
      decide_on([&](Observed& seen) { pod(seen, "cora-1-0").meta.deletion = seen.now + Seconds(100); });
  EXPECT_FALSE(decision.status);
  EXPECT_THAT(writes(decision), IsEmpty());
  EXPECT_EQ(decision.requeue_at, world.cluster.now + Seconds(100));
}

TEST_F(DecideRestart, ADrainByTaintIsWaitedForLikeAnyOtherAndIsNotTheNodesFault) {
  train();
  const auto drain = [&](Observed& seen) {
    pod(seen, "cora-1-0").disruption = "DeletionByTaintManager";
    pod(seen, "cora-1-0").meta.deletion = seen.now + Seconds(100);
  };
  const Decision waiting = decide_on(drain);
  EXPECT_FALSE(waiting.status) << "the ranks write a checkpoint";
  EXPECT_EQ(waiting.requeue_at, world.cluster.now + Seconds(100));
  const Decision after = decide_on([&](Observed& seen) {
    drain(seen);
    pod(seen, "cora-1-0").phase = "Failed";
  });
  ASSERT_TRUE(after.status);
  EXPECT_EQ(after.status->restarts.back().reason, "Evicted");
  EXPECT_EQ(after.status->failures, 0);
}

TEST_F(DecideRestart, APodThatHangsOnASilentNodeIsForcedOutAfterTheAttemptHasMovedOn) {
  train();
  world.cluster.training.seconds = 100000;
  world.kill_node(node_of_pod("cora-1-0"));
  world.atoll.run(40);
  ASSERT_TRUE(world.cluster.pods.contains("cora-1-0"));
  EXPECT_EQ(world.atoll.status().attempt, 2);
  world.atoll.run(200);
  EXPECT_FALSE(world.cluster.pods.contains("cora-1-0"));
}

TEST_F(DecideRestart, TheLauncherThatWasGivenUpGoesBeforeTheNextStarts) {
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

TEST_F(DecideRestart, TheLastLauncherThatFailedStaysForItsLog) {
  train();
  world.cluster.end_pod("cora-launcher-1", 1, "Error", R"({"status":1})");
  world.atoll.run(10);
  world.cluster.end_pod("cora-launcher-2", 1, "Error", R"({"status":1})");
  world.atoll.run(30);
  EXPECT_THAT(world.cluster.pods_of("cora", kLauncherRole),
              ElementsAre("cora-launcher-2", "cora-launcher-3"));
}

TEST_F(DecideRestart, RestartsInQuickSuccessionWaitLongerEachTime) {
  train();
  auto wait_after = [&](int restarts) {
    const Decision decision = decide_on([&](Observed& seen) {
      seen.pods.clear();
      std::erase_if(seen.objects, [](const ObjectView& o) { return o.meta.name == "cora-attempt-1"; });
      for (int i = restarts; i-- > 0;)
        seen.job.status.add_restart({seen.now - Seconds(100 * i), {}, "Exit", {}});
      seen.job.status.attempt = restarts + 1;
    });
    EXPECT_EQ(decision.requeue_at.has_value(), writes(decision).empty());
    return decision.requeue_at.value_or(world.cluster.now) - world.cluster.now;
  };
  EXPECT_EQ(wait_after(1), Seconds(0));
  for (const auto& [restarts, seconds] : {std::pair{2, 10}, {3, 20}, {4, 40}, {9, 300}})
    EXPECT_THAT(wait_after(restarts).count(), AllOf(testing::Ge(seconds), testing::Le(seconds + 3)))
        << restarts;
}

TEST_F(DecideRestart, TheSupervisorOfAKilledRankHasItsSay) {
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

TEST_F(DecideRestart, APodThatWasLostBeforeIsNotToBlameAgain) {
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

TEST_F(DecideRestart, AnAttemptWhoseConfigMapSomebodyDeletedEndsWithItsLauncher) {
  train();
  world.cluster.objects.erase({Kind::kConfigMap, "cora-attempt-1"});
  world.cluster.end_pod("cora-launcher-1", 1, "Error", R"({"status":1,"message":"the port is in use"})");
  world.atoll.run(5);
  ASSERT_EQ(world.atoll.status().restarts.size(), 1U);
  EXPECT_EQ(world.atoll.status().restarts[0].reason, "Exit");
  EXPECT_EQ(world.atoll.status().attempt, 2);
  world.run_to_end();
  expect_success(world);
}

TEST_F(DecideRestart, ALauncherThatHasJustEndedDoesNotStart) {
  train();
  const Decision decision = decide_on([&](Observed& seen) {
    for (ContainerView& container : pod(seen, "cora-launcher-1").containers)
      container.running = false, container.ended = true;
  });
  EXPECT_FALSE(decision.status) << "until its pod has ended too";
}

}  // namespace
}  // namespace atl::ctl
