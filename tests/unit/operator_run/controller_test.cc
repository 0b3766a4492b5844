// Whole lives of jobs, from the API server's news to the requests that it gets.
#include <gmock/gmock.h>

#include <set>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::Contains;
using testing::HasSubstr;

const Changes kWholeCluster = {{"/spec/placement/ranks", 8}};

TEST(Controller, TakesAJobFromItsSubmissionToItsEnd) {
  Stage stage;
  stage.submit("cora");
  stage.run(200, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  EXPECT_EQ(stage.cluster.runs["cora"].launches, 1);
  EXPECT_EQ(stage.cluster.prepares, 1);
  EXPECT_EQ(stage.status().result.test, 0.81);
  const std::set<std::string> once(stage.api.writes.begin(), stage.api.writes.end());
  for (const std::string& write : once) {
    if (write.starts_with("POST") || write.starts_with("DELETE")) {
      EXPECT_EQ(stage.count(write), 1) << write;
    }
  }
}

TEST(Controller, RestsAlsoWhereADeadlineIsCenturiesAway) {
  Stage stage;
  stage.submit("cora", {{"/spec/runPolicy/activeDeadlineSeconds", 9'999'999'999}});
  stage.run(200, [&] { return stage.has_ended(); });  // work that never ends fails there
  EXPECT_EQ(stage.state(), "Succeeded");
}

TEST(Controller, TellsPeopleByEvents) {
  Stage stage;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  stage.cluster.end_pod("cora-1-0", 1, "Error", "");
  stage.run(300, [&] { return stage.has_ended(); });
  stage.controller->flush_events();
  std::vector<std::string> reasons;
  for (const auto& [name, event] : stage.api.events) {
    EXPECT_EQ(event.at("involvedObject").at("uid"), "uid of cora");
    reasons.push_back(event.at("reason"));
  }
  EXPECT_THAT(reasons, Contains("Training")) << "again, after what was lost";
  EXPECT_THAT(reasons, Contains("Completed"));
}

TEST(Controller, WritesWhatRankZeroSays) {
  Stage stage;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  stage.progress = R"({"epoch": 7, "epochs": 200, "loss": 0.5, "etaSeconds": 61})";
  stage.run(7);
  EXPECT_EQ(stage.status().progress.epoch, 7);
  EXPECT_EQ(stage.status().progress.loss, 0.5);
  EXPECT_EQ(stage.status().progress.eta, "1m1s");
}

TEST(Controller, SeesToALostRankBeforeItSeesToGangsThatWait) {
  Stage stage;
  stage.cluster.training.seconds = 1000;
  stage.submit("runs", kWholeCluster);
  stage.run(100, [&] { return stage.state("runs") == "Running"; });
  const auto name = [](int job) { return "waits-" + std::to_string(job); };
  for (int j = 0; j < 20; ++j) stage.submit(name(j), kWholeCluster);
  stage.run(30);
  for (int j = 0; j < 20; ++j) stage.controller->job_changed("team/" + name(j), "");
  stage.cluster.end_pod("runs-1-0", 1, "Error", "");
  stage.api.push(stage.controller->caches());
  ASSERT_TRUE(stage.controller->work_once());
  EXPECT_EQ(stage.status("runs").restarts.size(), 1U);
}

TEST(Controller, GivesTheRoomForOneGangToOneOfTwo) {
  Stage stage;
  stage.submit("one", kWholeCluster);
  stage.submit("two", kWholeCluster);
  std::set<std::string> reasons;
  stage.run(600, [&] {
    for (const char* name : {"one", "two"}) reasons.insert(stage.reason(kPlaced, name));
    return stage.has_ended("one") && stage.has_ended("two");
  });
  EXPECT_EQ(stage.state("one"), "Succeeded");
  EXPECT_EQ(stage.state("two"), "Succeeded");
  EXPECT_TRUE(reasons.contains("NoRoom"));
  EXPECT_FALSE(reasons.contains("Withdrawn")) << "both were given the same room";
  EXPECT_EQ(stage.cluster.runs["one"].launches + stage.cluster.runs["two"].launches, 2);
}

TEST(Controller, MakesAGangThatFindsRoomWhereItIsToStand) {
  Stage stage;
  stage.submit("cora");
  stage.run(60, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.state(), "Running");
  EXPECT_EQ(stage.count("PATCH pods cora-0-0"), 0) << "it had no gate";
  EXPECT_EQ(stage.count("PATCH pods cora-launcher-1"), 1) << "it was pinned, and let go once all were ready";
}

TEST(Controller, WritesAStartsStatusThreeTimes) {
  Stage stage;
  stage.submit("cora");
  stage.run(60, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.state(), "Running");
  EXPECT_EQ(stage.count("PATCH gnnjobs cora"), 3) << "preparing with its keys' name, planned, training";
  stage.controller->flush_events();
  EXPECT_TRUE(stage.api.events.empty()) << "the status tells that it trains";
}

/// Of a job of two workers; each more is one more. Nothing else is asked, but where its volumes can be used.
TEST(Controller, WritesTwelveTimesForAStart) {
  Stage stage;
  stage.submit("cora");
  stage.run(60, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.state(), "Running");
  EXPECT_THAT(stage.api.writes,
              testing::UnorderedElementsAre("PATCH gnnjobs cora", "POST secrets " + stage.status().keys,
                                            testing::StartsWith("POST configmaps cora-job-"),
                                            "POST networkpolicies cora", "POST pods cora-prepare",
                                            "PATCH gnnjobs cora", "POST pods cora-0-0", "POST pods cora-1-0",
                                            "POST pods cora-launcher-1", "POST configmaps cora-attempt-1",
                                            "PATCH pods cora-launcher-1", "PATCH gnnjobs cora"));
  EXPECT_EQ(std::ranges::count(stage.api.reads, "pods cora-prepare"), 0) << "nothing asks for its log";
}

TEST(Controller, ReadsFindingsThatNoMessageHoldsFromTheLog) {
  Stage stage;
  stage.cluster.are_findings_long = true;
  stage.submit("cora");
  stage.run(60, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.state(), "Running");
  EXPECT_EQ(std::ranges::count(stage.api.reads, "pods cora-prepare"), 1);
  EXPECT_THAT(stage.api.writes, Contains(testing::StartsWith("POST configmaps cora-prepared-")));
}

TEST(Controller, DoesNotAskForKeysThatItHasJustMade) {
  Stage stage;
  int asked = 0;
  stage.api.lose = [&](const std::string& method, const FakeApi::Target& target) {
    asked += method == "POST" && target.plural == "secrets";
    return FakeApi::Loss::kNone;
  };
  stage.submit("cora");
  stage.run(60, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.state(), "Running");
  EXPECT_EQ(asked, 1) << "they are made, and no dry run looks for them";
}

TEST(Controller, StartsJobsWhoseTemplatesAllowTheSameNodeAlone) {
  const json on_n1 = {{"spec", {{"nodeSelector", {{"kubernetes.io/hostname", "n1"}}}}}};
  Stage stage;
  for (const char* name : {"one", "two"})
    stage.submit(name, {{"/spec/placement/ranks", 2}, {"/spec/template", on_n1}});
  stage.run(300, [&] { return stage.has_ended("one") && stage.has_ended("two"); });
  EXPECT_EQ(stage.state("one"), "Succeeded") << stage.job("one").at("status").dump(1);
  EXPECT_EQ(stage.state("two"), "Succeeded");
}

TEST(Controller, StartsAWaitingJobWhenSomebodyElsesPodGoes) {
  Stage stage;
  stage.cluster.occupy("n1", 3000);
  stage.submit("cora", kWholeCluster);
  stage.run(40);
  EXPECT_EQ(stage.reason(kPlaced), "NoRoom");
  stage.cluster.pods.erase("stranger");
  stage.run(3);
  EXPECT_EQ(stage.reason(kPlaced), "Planned");
}

TEST(Controller, DecidesAgainWhereTheJobHasChangedMeanwhile) {
  Stage stage;
  stage.submit("cora");
  int conflicts = 0;
  stage.api.refuse = [&](const std::string&,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (target.sub != "status" || conflicts >= 3) return {};
    ++conflicts;
    return FakeApi::Refusal{409, "Conflict", "the object has been modified"};
  };
  stage.run(200, [&] { return stage.has_ended(); });
  EXPECT_EQ(conflicts, 3);
  EXPECT_EQ(stage.state(), "Succeeded");
  EXPECT_EQ(stage.cluster.runs["cora"].launches, 1);
}

TEST(Controller, ReadsAnewWhatAConflictShowsToBeOutdated) {
  Stage stage;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  stage.api.late = "gnnjobs";
  stage.job()["spec"]["runPolicy"]["suspend"] = true;
  stage.progress = R"({"epoch": 7, "epochs": 200})";
  stage.api.reads.clear();
  stage.run(7);  // what rank 0 says is to be written, on the version that the caches have
  EXPECT_THAT(stage.api.reads, Contains("gnnjobs cora"));
  EXPECT_EQ(stage.count("DELETE pods cora-launcher-1"), 1) << "it is suspended, which no watch has said yet";
}

TEST(Controller, DeletesOnceWhatIsGoneAlready) {
  Stage stage;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  stage.api.late = "pods";
  stage.cluster.pods.erase("cora-launcher-1");
  stage.job()["spec"]["runPolicy"]["suspend"] = true;
  stage.run(3);
  EXPECT_EQ(stage.count("DELETE pods cora-launcher-1"), 1);
  EXPECT_EQ(stage.count("DELETE pods cora-0-0"), 1) << "the launcher is gone: now the workers";
}

TEST(Controller, DoesNothingBeforeTheStatusThatGoesWithItIsWritten) {
  Stage stage;
  stage.submit("cora");
  stage.api.refuse = [](const std::string&,
                        const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (target.sub != "status") return {};
    return FakeApi::Refusal{500, "InternalError", "etcd is down"};
  };
  stage.run(30);
  EXPECT_TRUE(stage.cluster.pods.empty());
}

TEST(Controller, WritesNothingOnceAnotherLeads) {
  Stage stage;
  stage.submit("cora");
  stage.run(5);
  stage.leads = false;
  const auto before = stage.api.writes.size();
  stage.run(60);
  EXPECT_EQ(stage.api.writes.size(), before);
}

TEST(Controller, GoesOnWhereTheLastOneDied) {
  Stage stage;
  stage.submit("cora");
  for (int lives = 0; lives < 40 && !stage.has_ended(); ++lives) {
    stage.start();
    stage.run(3 + lives % 3);
  }
  stage.run(200, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  EXPECT_EQ(stage.cluster.runs["cora"].launches, 1);
}

TEST(Controller, ReplacesWhatADeadNodeTook) {
  Stage stage;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  const std::string node = stage.status().servers.at(0).node;
  stage.cluster.nodes.at(node).is_dead = true;
  stage.cluster.nodes.at(node).since = stage.cluster.now;
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  EXPECT_EQ(stage.status().restarts.at(0).culprit.node, node);
}

TEST(Controller, CountsItsJobsByState) {
  Stage stage;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  const std::string text = stage.controller->metrics_text();
  EXPECT_THAT(text, HasSubstr("atoll_jobs{state=\"Running\"} 1"));
  EXPECT_THAT(text, HasSubstr("workqueue_adds_total{name=\"gnnjob\"}"));
}

/// One job that finds no node for its prepare pod, and is given a new one every ten minutes.
TEST(Controller, CountsAPreparePodsWaitForRoomToo) {
  Stage stage;
  for (const auto& [node, state] : stage.cluster.nodes) stage.cluster.occupy(node, 4000, "stranger-" + node);
  stage.submit("cora");
  stage.run(1900);
  const std::string text = stage.controller->metrics_text();
  const std::string gauge = "atoll_gang_waiting_seconds{gnnjob=\"cora\",job_namespace=\"team\"} ";
  const auto at = text.find(gauge);
  ASSERT_NE(at, std::string::npos) << text;
  EXPECT_GT(std::stod(text.substr(at + gauge.size())), 1800);
}

}  // namespace
}  // namespace atl::ctl
