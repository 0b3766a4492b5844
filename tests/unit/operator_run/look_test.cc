// What the operator tells of the time it takes: the API server's share isn't in it, and neither is what others did meanwhile.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

constexpr auto kSlow = std::chrono::milliseconds(20);

/// The figure of a line "name 1.5", 0 where there is none.
double figure(Stage& stage, const std::string& name) {
  const std::string text = "\n" + stage.controller->metrics_text();
  const auto at = text.find("\n" + name + " ");
  return at == std::string::npos ? 0 : std::stod(text.substr(at + name.size() + 2));
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

TEST_F(SlowServer, CountsItsAnswersApart) {
  ASSERT_EQ(stage.state(), "Running");
  const double looks = figure(stage, "atoll_job_own_seconds_count");
  EXPECT_GE(looks, 5);
  const double slow = looks * std::chrono::duration<double>(kSlow).count();
  EXPECT_GE(figure(stage, R"(workqueue_work_duration_seconds_sum{name="gnnjob"})"), slow);
  EXPECT_LT(figure(stage, "atoll_job_own_seconds_sum"), slow / 2);
  EXPECT_EQ(figure(stage, "atoll_job_reconcile_seconds_count"), looks);
}

TEST_F(SlowServer, CountsNoLooksThatDidNothing) {
  const double acted = figure(stage, "atoll_job_own_seconds_count");
  const double looked = figure(stage, R"(workqueue_work_duration_seconds_count{name="gnnjob"})");
  stage.controller->look_at_all();
  stage.work();
  EXPECT_EQ(figure(stage, "atoll_job_own_seconds_count"), acted);
  EXPECT_GT(figure(stage, R"(workqueue_work_duration_seconds_count{name="gnnjob"})"), looked);
}

TEST_F(SlowServer, CountsPlanningApart) {
  EXPECT_GE(figure(stage, "atoll_job_plan_seconds_count"), 1);
}

}  // namespace
}  // namespace atl::ctl
