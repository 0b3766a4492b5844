// Lives of jobs whose preparation fails, is refused or finds no room, killed operator included
// (life_test.cc).
#include <gmock/gmock.h>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

TEST(LifePrepare, APreparePodThatKubeletRejectsIsMadeAnewLessAndLessOften) {
  World world;
  for (auto& [name, node] : world.cluster.nodes) node.rejects = true;
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
  world.atoll.run(120);
  EXPECT_FALSE(world.has_ended());
  EXPECT_THAT(world.atoll.status().restarts, SizeIs(testing::Lt(7u)));
  for (auto& [name, node] : world.cluster.nodes) node.rejects = false;
  world.run_to_end();
  expect_success(world);
}

/// Its node is drained. Whether one was running.
bool evict_prepare_pods(World& world) {
  bool is_evicted = false;
  for (const std::string& name : world.cluster.pods_of("cora", kPrepareRole)) {
    nlohmann::json& pod = world.cluster.pods.at(name);
    if (pod.at("status").value("phase", "") != "Running") continue;
    pod["status"]["phase"] = "Failed";
    pod["status"]["reason"] = "Evicted";
    pod["status"]["conditions"] = {
        {{"type", "DisruptionTarget"}, {"status", "True"}, {"reason", "EvictionByEvictionAPI"}}};
    world.cluster.is_changed = is_evicted = true;
  }
  return is_evicted;
}

TEST(LifePrepare, SoManyDisruptionsEndAJobThatIsPrepared) {
  World world;
  world.atoll.submit(sample_job_json({{"/spec/runPolicy", {{"backoffLimit", 0}, {"maxDisruptions", 3}}}}));
  for (int second = 0; second < 600 && !world.has_ended(); ++second) {
    world.atoll.run(1);
    evict_prepare_pods(world);
  }
  ASSERT_TRUE(world.has_ended());
  const Status status = world.atoll.status();
  EXPECT_EQ(status.disruptions, 4) << "each is counted once";
  EXPECT_EQ(status.failures, 0);
  EXPECT_EQ(find_condition(status.conditions, kFailed)->reason, "TooManyDisruptions");
}

TEST(LifePrepare, AJobIsPreparedWhereAnEvictionCutItShort) {
  World world;
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
  do world.atoll.run(1);
  while (!evict_prepare_pods(world));
  world.run_to_end();
  EXPECT_EQ(world.atoll.status().disruptions, 1);
  expect_success(world);
}

TEST(LifePrepare, AFailedPrepareStepIsTriedAgainAndThenGivenUp) {
  live([](World& world) {
    world.cluster.does_prepare_fail = true;
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 2}}));
    world.run_to_end();
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_EQ(world.cluster.prepares, 3);
    EXPECT_THAT(find_condition(world.atoll.status().conditions, kFailed)->message,
                HasSubstr("no data set 'cora'"));
    EXPECT_EQ(world.cluster.runs["cora"].launches, 0);
  });
}

TEST(LifePrepare, AFailureThatLeftNoLogIsSaidInItsKubeletsWords) {
  World world;
  world.cluster.does_prepare_fail = true;
  world.cluster.failed_prepare_log = "";
  world.cluster.prepare_reason = "StartError";
  world.cluster.prepare_message = "failed to create containerd task";
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
  world.run_to_end();
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kFailed)->message,
              HasSubstr("StartError: failed to create containerd task"));
}

TEST(LifePrepare, AKillForMemoryIsNamedBesideTheLastLine) {
  World world;
  world.cluster.does_prepare_fail = true;
  world.cluster.prepare_reason = "OOMKilled";
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
  world.run_to_end();
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kFailed)->message,
              testing::AllOf(HasSubstr("killed for memory"), HasSubstr("resources.memory"),
                             HasSubstr("no data set 'cora'")));
}

/// It is told to each attempt, and nobody chooses anew.
TEST(LifePrepare, WhatItChoseForStrategyAutoIsWhatRanksTrainUnder) {
  World world;
  world.cluster.prepares_also = R"(,"strategy":"{kind: granndis}","strategyReason":"it sends least")";
  const auto strategy_of = [&](int attempt) {
    const json& map = world.cluster.objects.at({Kind::kConfigMap, "cora-attempt-" + std::to_string(attempt)});
    return parse_json(map.at("data").at("attempt.json").get<std::string>()).value("strategy", "");
  };
  world.atoll.submit(sample_job_json({{"/spec/strategy", {{"kind", "auto"}}}}));
  world.until_training();
  EXPECT_EQ(strategy_of(1), "{kind: granndis}");
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
              HasSubstr("; strategy auto is {kind: granndis}: it sends least"));
  world.kill_node(node_of(world.cluster.pods.at("cora-0-0")));
  world.atoll.run(900, [&] { return world.cluster.objects.contains({Kind::kConfigMap, "cora-attempt-2"}); });
  EXPECT_EQ(strategy_of(2), "{kind: granndis}");
  EXPECT_EQ(world.cluster.prepares, 1);
}

TEST(LifePrepare, AManifestsOwnStrategyIsNotReplaced) {
  World world;
  world.cluster.prepares_also = R"(,"strategy":"{kind: granndis}")";
  world.atoll.submit(sample_job_json());
  world.until_training();
  const json& map = world.cluster.objects.at({Kind::kConfigMap, "cora-attempt-1"});
  EXPECT_THAT(map.at("data").at("attempt.json").get<std::string>(), Not(HasSubstr("strategy")));
}

TEST(LifePrepare, WhatHasPreparedStaysForItsLogUntilAnotherManifestMayFollow) {
  World world;
  world.atoll.submit(sample_job_json());
  world.until_training();
  ASSERT_TRUE(world.cluster.pods.contains("cora-prepare"));
  world.suspend(true);
  world.atoll.run(200, [&] { return world.atoll.state() == "Suspended"; });
  EXPECT_FALSE(world.cluster.pods.contains("cora-prepare")) << "it has another's name";
  world.suspend(false);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1) << "what it found is kept";
}

TEST(LifePrepare, AFailedPreparePodIsKeptForItsLogByCleanPodPolicy) {
  for (const char* policy : {"Running", "None", "All"}) {
    World world;
    world.cluster.does_prepare_fail = true;
    world.atoll.submit(
        sample_job_json({{"/spec/runPolicy/backoffLimit", 3}, {"/spec/runPolicy/cleanPodPolicy", policy}}));
    world.atoll.run(60, [&] { return world.atoll.status().failures == 2; });
    world.atoll.run(5);
    EXPECT_TRUE(world.cluster.pods.contains("cora-prepare"))
        << policy << ": while the next one waits its time";
    EXPECT_EQ(world.cluster.prepares, 2);
    world.run_to_end();
    EXPECT_EQ(world.cluster.prepares, 4);
    EXPECT_EQ(world.cluster.pods.contains("cora-prepare"), std::string(policy) != "All") << policy;
  }
}

TEST(LifePrepare, AnImageThatCannotBePulledIsNamedOnceWhateverWordsItsKubeletTakes) {
  World world;
  for (auto& [name, node] : world.cluster.nodes) node.pulls_images = false;
  world.atoll.submit(sample_job_json());
  const auto message = [&] { return find_condition(world.atoll.status().conditions, kPlaced)->message; };
  world.atoll.run(15);
  EXPECT_EQ(message(), "the data set is checked and partitioned") << "it may be slow";
  world.atoll.run(10);
  EXPECT_THAT(message(), HasSubstr("waiting for cora-prepare on n"));
  EXPECT_THAT(message(), HasSubstr("ImagePullBackOff: no such image"));
  world.cluster.waits_for = {{"reason", "ErrImagePull"}, {"message", "registry: manifest unknown"}};
  world.atoll.run(5);
  EXPECT_THAT(message(), HasSubstr("ImagePullBackOff: no such image"));
  world.cluster.waits_for = {{"reason", "CreateContainerConfigError"}, {"message", "no Secret 'proxy'"}};
  world.atoll.run(5);
  EXPECT_THAT(message(), HasSubstr("CreateContainerConfigError: no Secret 'proxy'"));
}

TEST(LifePrepare, APrepareStepThatFindsNoRoomWaitsForIt) {
  World world;
  for (const auto& [node, state] : world.cluster.nodes) world.cluster.occupy(node, 3000, "stranger-" + node);
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
  world.atoll.run(10);
  const Moment since = find_condition(world.atoll.status().conditions, kPlaced)->changed;
  for (int second = 0; second < 2000; ++second) {  // with the next pods, too, which nobody has judged yet
    world.atoll.run(1);
    const Condition placed = *find_condition(world.atoll.status().conditions, kPlaced);
    ASSERT_EQ(placed.reason, kUnschedulable) << second;
    ASSERT_EQ(placed.message, "the prepare pod has no node: no node has 3 cpu");
    ASSERT_EQ(placed.changed, since);
  }
  EXPECT_EQ(world.atoll.state(), "Waiting");
  EXPECT_EQ(world.atoll.status().failures, 0);
  EXPECT_FALSE(world.has_ended());
  for (const auto& [node, state] : world.cluster.nodes) world.cluster.pods.erase("stranger-" + node);
  world.run_to_end();
  expect_success(world);
}

TEST(LifePrepare, APreparePodThatHangsIsGivenUp) {
  live([](World& world) {
    world.cluster.does_prepare_hang = true;
    world.cluster.failed_prepare_log = "loading\npart 3 of 4\n";
    world.atoll.submit(
        sample_job_json({{"/spec/runPolicy", {{"backoffLimit", 1}, {"prepareDeadlineSeconds", 60}}}}));
    world.atoll.run(60);
    EXPECT_EQ(world.atoll.status().failures, 0);
    world.run_to_end();
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_EQ(world.cluster.prepares, 2) << "each has its time";
    const Status status = world.atoll.status();
    EXPECT_EQ(status.restarts.back().reason, "PrepareDeadlineExceeded");
    EXPECT_EQ(status.restarts.back().culprit.pod, "cora-prepare");
    EXPECT_THAT(find_condition(status.conditions, kFailed)->message,
                testing::AllOf(HasSubstr("ran for 60 s (runPolicy.prepareDeadlineSeconds)"),
                               HasSubstr("its log ends with: part 3 of 4")));
    EXPECT_FALSE(world.cluster.is_running("cora-prepare")) << "it would keep its room for ever";
  });
}

TEST(LifePrepare, APreparePodHasTheTimeThatTheSpecSaysNow) {
  World world;
  world.cluster.does_prepare_hang = true;
  world.atoll.submit(
      sample_job_json({{"/spec/runPolicy", {{"backoffLimit", 0}, {"prepareDeadlineSeconds", 60}}}}));
  world.atoll.run(50);
  world.atoll.job()["spec"]["runPolicy"]["prepareDeadlineSeconds"] = 600;
  world.cluster.is_changed = true;
  world.atoll.run(500);
  EXPECT_EQ(world.atoll.state(), "Preparing");
  world.cluster.does_prepare_hang = false;
  world.run_to_end();
  EXPECT_EQ(world.atoll.status().failures, 0);
  expect_success(world);
}

/// However long it takes to pull its image.
TEST(LifePrepare, TheTimeOfAPreparePodBeginsWhenItRuns) {
  World world;
  world.cluster.does_prepare_hang = true;
  for (auto& [name, node] : world.cluster.nodes) node.pulls_images = false;
  world.atoll.submit(
      sample_job_json({{"/spec/runPolicy", {{"backoffLimit", 0}, {"prepareDeadlineSeconds", 60}}}}));
  world.atoll.run(100);
  for (auto& [name, node] : world.cluster.nodes) node.pulls_images = true;
  world.atoll.run(55);
  EXPECT_EQ(world.atoll.status().failures, 0);
  world.atoll.run(10);
  EXPECT_EQ(world.atoll.status().failures, 1);
}

TEST(LifePrepare, ALogThatNobodyGivesIsNotWaitedForWithoutEnd) {
  for (const bool fails : {false, true}) {
    World world;
    world.cluster.does_prepare_fail = fails, world.cluster.are_findings_long = true;
    world.cluster.prepare_message = "no space left";
    world.atoll.gets_logs = false;
    world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
    world.atoll.run(500);
    EXPECT_FALSE(world.has_ended());
    EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
                HasSubstr("the API server does not give its log (can it reach the kubelet of node n1?)"));
    world.run_to_end();
    EXPECT_EQ(world.atoll.state(), "Failed");
    const std::string why = find_condition(world.atoll.status().conditions, kFailed)->message;
    EXPECT_THAT(why, HasSubstr("does not give its log"));
    EXPECT_EQ(why.find("no space left") != std::string::npos, fails);
  }
}

TEST(LifePrepare, ALogThatComesLateIsReadAllTheSame) {
  World world;
  world.cluster.are_findings_long = true;
  world.atoll.gets_logs = false;
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/backoffLimit", 0}}));
  world.atoll.run(500);
  world.atoll.gets_logs = true;
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1);
}

TEST(LifePrepare, APodThatCannotBeKilledIsNamed) {
  World world;
  world.cluster.does_prepare_hang = true;
  world.atoll.submit(sample_job_json({{"/spec/runPolicy/prepareDeadlineSeconds", 60}}));
  world.atoll.run(30);
  const std::string node = node_of(world.cluster.pods.at("cora-prepare"));
  world.cluster.stands_still = {"cora-prepare"};
  world.atoll.run(300);
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
              HasSubstr("the former prepare pod was stopped, and still stands on node " + node));
  EXPECT_EQ(world.cluster.prepares, 1);
  world.cluster.stands_still.clear();
  world.cluster.does_prepare_hang = false;
  world.run_to_end();
  expect_success(world);
}

}  // namespace
}  // namespace atl::ctl
