// A world in which nothing changes, watched for a minute: hardly anything is written.
#include <gmock/gmock.h>

#include "operator/objects/names.h"
#include "operator_controller/fake_kueue.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

const std::string kStatusWrite = "PATCH gnnjobs cora";

/// In 60 s of a world that stands still, but for what the ranks' page says.
int writes_in_a_minute(Stage& stage) {
  stage.run(5);
  const int before = stage.count(kStatusWrite);
  stage.run(60);
  return stage.count(kStatusWrite) - before;
}

TEST(UnchangedWorld, APageOfNonsenseIsWrittenOnce) {
  for (
      const char* page :
      {R"({"epoch": 7, "epochs": 200, "bytes": {"intra": 1.5, "inter": -4}})",
       R"({"epoch": 7, "epochs": 200, "bytes": {"intra": 1e19, "inter": 0.1}})",
       R"({"epoch": 7, "epochs": 200, "lastCheckpointEpoch": -1})",
       R"({"epoch": 7, "epochs": 200, "loss": 0.1, "etaSeconds": -5, "lastCheckpointEpoch": 18446744073709551615})"}) {
    SCOPED_TRACE(page);
    Stage stage;
    stage.cluster.training.seconds = 1000;
    stage.submit("cora");
    stage.run(100, [&] { return stage.state() == "Running"; });
    stage.progress = page;
    EXPECT_LE(writes_in_a_minute(stage), 2);
  }
}

TEST(UnchangedWorld, AnEpochEveryFewSecondsIsWrittenTwiceAMinute) {
  Stage stage;
  stage.cluster.training.seconds = 10'000;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  const int before = stage.count(kStatusWrite);
  for (int epoch = 1; epoch <= 60; ++epoch) {
    stage.progress = R"({"epochs": 200, "epoch": )" + std::to_string(epoch) + "}";
    stage.run(5);
  }
  EXPECT_LE(stage.count(kStatusWrite) - before, 1 + 300 / 30);
  EXPECT_GE(stage.status().progress.epoch, 60 - 30 / 5);
}

TEST(UnchangedWorld, AGangThatWaitsOnManyNodesIsToldSoOnce) {
  Stage stage;
  for (int n = 0; n < 96; ++n) {  // each taken by somebody else's pod
    const std::string name = "ip-10-0-11-" + std::to_string(n) + ".eu-central-1.compute.internal";
    stage.cluster.nodes[name].labels["kubernetes.io/hostname"] = name;
    stage.cluster.pods["app-" + std::to_string(n)] = {
        {"metadata",
         {{"name", "app-" + std::to_string(n)}, {"namespace", "web"}, {"uid", "u" + std::to_string(n)}}},
        {"spec", {{"nodeName", name}, {"containers", {{{"resources", {{"requests", {{"cpu", "2"}}}}}}}}}},
        {"status", {{"phase", "Running"}}}};
  }
  stage.submit("cora", {{"/spec/placement/ranks", 2 * 98}});
  stage.run(60, [&] { return stage.reason(kPlaced) == "NoRoom"; });
  ASSERT_EQ(stage.reason(kPlaced), "NoRoom");
  EXPECT_LE(writes_in_a_minute(stage), 2);
  const Status status = stage.status();
  EXPECT_LT(find_condition(status.conditions, kPlaced)->message.size(), 1000U) << "a few nodes are named";
}

/// Kueue's messages may be eight times as long as ours.
TEST(UnchangedWorld, WhatAQueueSaysAtLengthIsWrittenOnce) {
  Stage stage;
  FakeKueue kueue{stage.cluster};
  kueue.cores = 0;
  stage.kueue = true;
  stage.start();
  stage.submit("cora");
  stage.job()["metadata"]["labels"][kQueueLabel] = "team-queue";
  stage.run(30, [&] { return kueue.has_workload() && !kueue.read().conditions.empty(); });
  kueue.workload()["status"]["conditions"][0]["message"] = std::string(32'768, 'x');
  stage.cluster.touch(Kind::kWorkload, "gnnjob-cora");
  EXPECT_LE(writes_in_a_minute(stage), 2);
  const Status status = stage.status();
  const Condition* suspended = find_condition(status.conditions, kSuspended);
  EXPECT_EQ(suspended->reason, "Queued");
  EXPECT_THAT(suspended->message, testing::HasSubstr("xxx"));
  EXPECT_LE(suspended->message.size(), kLongestMessage);
}

TEST(UnchangedWorld, WhatTheServerKeepsOtherwiseIsNotWrittenForEver) {
  Stage stage;
  stage.submit("cora", {{"/spec/placement/ranks", 16}});
  stage.run(60, [&] { return stage.reason(kPlaced) == "NoRoom"; });
  stage.api.keep_otherwise = [](json& status) {
    status.erase("madeOf"), status["conditions"][0]["message"] = "mine";
  };
  stage.api.keep_otherwise(stage.job()["status"]);
  const int before = stage.count(kStatusWrite);
  stage.run(60);
  EXPECT_LE(stage.count(kStatusWrite) - before, 9) << "three at once, then after 1, 2, 4, … s";
  EXPECT_THAT(stage.controller->metrics_text(), testing::HasSubstr("atoll_job_repeated_writes_total"));
  EXPECT_THAT(stage.controller->metrics_text(),
              testing::Not(testing::HasSubstr("atoll_job_repeated_writes_total 0")));
}

}  // namespace
}  // namespace atl::ctl
