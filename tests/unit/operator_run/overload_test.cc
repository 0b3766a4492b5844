// An API server that asks some jobs' writes to wait: those jobs wait in the queue, and the workers see to the
// others.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

constexpr int kSlowJobs = 4;  // as many as an operator has workers

struct Overload : testing::Test {
  Stage stage{kWorkersRetry};
  int seconds = 30;              // that it asks for
  std::string refused = "slow";  // beginning of the names that it refuses

  Overload() {
    stage.cluster.training.seconds = 1000;
    stage.api.refuse = [this](const std::string& method,
                              const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
      if (method == "GET" || !target.name.starts_with(refused)) return {};
      return FakeApi::Refusal{429, "TooManyRequests", "the server is overloaded", seconds};
    };
    for (int j = 0; j < kSlowJobs; ++j) stage.submit(slow(j));
    stage.submit("quick");
  }
  static std::string slow(int job) { return "slow-" + std::to_string(job); }
  /// With news of the slow jobs in each second.
  void run(int duration) {
    stage.run(duration, [&] {
      for (int j = 0; j < kSlowJobs; ++j) stage.controller->job_changed("team/" + slow(j), "");
      return false;
    });
  }
  std::ptrdiff_t slow_writes() const {
    return std::ranges::count_if(
        stage.api.writes, [](const std::string& write) { return write.find(" slow-") != std::string::npos; });
  }
};

TEST_F(Overload, HoldsUpOnlyTheJobsThatAreAskedToWait) {
  run(25);
  EXPECT_THAT(stage.clock.sleeps(), IsEmpty()) << "a worker slept";
  EXPECT_EQ(stage.state("quick"), "Running");
}

TEST_F(Overload, LeavesTheServerAloneForAsLongAsItAsks) {
  run(29);
  EXPECT_EQ(slow_writes(), kSlowJobs) << "whatever else happens to these jobs";
  run(10);
  EXPECT_EQ(slow_writes(), 2 * kSlowJobs);
  stage.api.refuse = {};
  run(30);
  for (int j = 0; j < kSlowJobs; ++j) EXPECT_NE(stage.state(slow(j)), "New");
}

TEST_F(Overload, OfASecondIsWaitedForAFewTimes) {
  seconds = 1;
  refused = slow(0);
  stage.run(1);
  EXPECT_THAT(stage.clock.sleeps(), SizeIs(kWorkersRetry.times));
}

/// A day is no answer: the job would be forgotten.
TEST_F(Overload, IsAskedAgainAfterHalfAMinuteAtMost) {
  seconds = 86'400;
  run(35);
  EXPECT_EQ(slow_writes(), 2 * kSlowJobs);
}

TEST_F(Overload, LeavesNothingOfAJobThatIsDeletedMeanwhile) {
  run(2);
  EXPECT_EQ(stage.controller->remembered().at("server waits"), std::size_t(kSlowJobs));
  for (int j = 0; j < kSlowJobs; ++j) stage.cluster.objects.erase({Kind::kJob, slow(j)});
  stage.run(1);
  EXPECT_EQ(stage.controller->remembered().at("server waits"), 0U);
}

}  // namespace
}  // namespace atl::ctl
