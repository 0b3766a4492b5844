// The operator's metric of the time from a job's news to the written decision.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

constexpr auto kSlow = std::chrono::milliseconds(20);
const double kSlowSeconds = std::chrono::duration<double>(kSlow).count();

/// The figure of a line "name 1.5", 0 where there is none.
double figure(Stage& stage, const std::string& name) {
  const std::string text = "\n" + stage.controller->metrics_text();
  const auto at = text.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 2));
}
double decisions(Stage& stage) {
  return figure(stage, "atoll_job_decision_seconds_count");
}
double decision_seconds(Stage& stage) {
  return figure(stage, "atoll_job_decision_seconds_sum");
}

double decided(Stage& stage, const char* what) {
  return figure(stage, std::string("atoll_job_decided_seconds_") + what);
}

struct SlowServer : testing::Test {
  Stage stage;
  SlowServer() {
    stage.api.refuse = [](const std::string&, const FakeApi::Target&) -> std::optional<FakeApi::Refusal> {
      std::this_thread::sleep_for(kSlow);
      return {};
    };
    stage.cluster.training.seconds = 1000;
    stage.submit("cora");
    stage.run(100, [&] { return stage.state() == "Running"; });
  }
};

TEST_F(SlowServer, EveryDecisionWaitsForItsAnswers) {
  ASSERT_EQ(stage.state(), "Running");
  EXPECT_GE(decisions(stage), 4) << "to prepare, to place, to start, and that it trains";
  EXPECT_GE(decision_seconds(stage), decisions(stage) * kSlowSeconds);
}

TEST_F(SlowServer, IsNotWaitedForBeforeItIsDecided) {
  EXPECT_EQ(decided(stage, "count"), decisions(stage));
  EXPECT_LE(decided(stage, "sum"), decision_seconds(stage) - decisions(stage) * kSlowSeconds);
}

TEST_F(SlowServer, LooksThatDidNothingDecidedNothing) {
  const double before = decisions(stage);
  const double looked = figure(stage, R"(workqueue_work_duration_seconds_count{name="gnnjob"})");
  stage.controller->look_at_all();
  stage.work();
  EXPECT_EQ(decisions(stage), before);
  EXPECT_GT(figure(stage, R"(workqueue_work_duration_seconds_count{name="gnnjob"})"), looked);
}

TEST_F(SlowServer, PlansAreCounted) {
  EXPECT_GE(figure(stage, "atoll_job_plan_seconds_count"), 1);
}

TEST(DecisionSeconds, BeginOnTheQueue) {
  Stage stage;
  stage.submit("cora");
  stage.api.push(stage.controller->caches());
  std::this_thread::sleep_for(kSlow);
  ASSERT_TRUE(stage.controller->work_once());
  EXPECT_EQ(decisions(stage), 1);
  EXPECT_GE(decision_seconds(stage), kSlowSeconds);
  EXPECT_GE(decided(stage, "sum"), kSlowSeconds);
  EXPECT_GE(figure(stage, R"(workqueue_queue_duration_seconds_sum{name="gnnjob"})"), kSlowSeconds);
}

/// As client-go counts: who creates a thousand pods hears of the first while it waits for the others.
TEST(DecisionSeconds, NewsThatComesDuringALookWaitsForItsEnd) {
  Stage stage;
  stage.submit("cora");
  stage.api.push(stage.controller->caches());
  stage.api.refuse = [&](const std::string&, const FakeApi::Target&) -> std::optional<FakeApi::Refusal> {
    stage.controller->job_changed("team/cora", "");
    std::this_thread::sleep_for(kSlow);
    return {};
  };
  ASSERT_TRUE(stage.controller->work_once());
  const double waited = figure(stage, R"(workqueue_queue_duration_seconds_sum{name="gnnjob"})");
  ASSERT_TRUE(stage.controller->work_once());
  EXPECT_GE(figure(stage, R"(workqueue_queue_duration_seconds_sum{name="gnnjob"})"), waited + kSlowSeconds);
}

/// The alert AtollOperatorBehind could not fire: its quantile ended at 10 s, and it asks for more.
TEST(QueueSeconds, AreToldApartAboveTheAlertsTen) {
  Stage stage;
  stage.submit("cora");
  stage.work();
  for (const char* bound : {"10", "25"})
    EXPECT_GE(figure(stage, fmt::format(R"(workqueue_queue_duration_seconds_bucket{{name="gnnjob",le="{}"}})",
                                        bound)),
              1)
        << bound;
}

}  // namespace
}  // namespace atl::ctl
