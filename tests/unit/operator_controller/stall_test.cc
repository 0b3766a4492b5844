// Ranks that run and don't advance are restarted; ranks that are only silent are left alone. A prepare pod
// that hangs is given up.
#include <cstdint>
#include <limits>

#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr Seconds kDeadline{60};

class Stall : public Decide {
 protected:
  void SetUp() override { train({{"/spec/runPolicy/progressDeadlineSeconds", kDeadline.count()}}); }
  /// Of a job that has run for long.
  Decision hear(int advanced_seconds_ago, int answered_seconds_ago, int missed = 0) {
    return decide_on([=](Observed& seen) {
      for (Condition& c : seen.job.status.conditions) c.changed = seen.now - Seconds(5000);
      seen.heard =
          ProgressReport{Progress{.epoch = 7, .epochs = 200}, seen.now - Seconds(advanced_seconds_ago),
                         seen.now - Seconds(answered_seconds_ago), 3, missed};
    });
  }
};

TEST_F(Stall, RestartsAndNamesTheRankThatStalled) {
  EXPECT_EQ(hear(59, 0).status->progress.epoch, 7);
  EXPECT_FALSE(ctl::holds(hear(59, 0).status->conditions, kRestarting));
  const Decision stalled = hear(60, 0);
  EXPECT_EQ(stalled.status->restarts.back().reason, "Stalled");
  EXPECT_EQ(stalled.status->restarts.back().culprit, (Culprit{3, "", "cora-1-0", node_of_pod("cora-1-0")}));
  EXPECT_EQ(stalled.status->failures, 1);
}

TEST_F(Stall, IsProvedByAnAnswerFromBeyondTheDeadlineAlone) {
  for (const int since : {60, 100, 180, 1800}) {
    EXPECT_THAT(hear(since, since).status->restarts, IsEmpty()) << "nobody has answered since";
    EXPECT_THAT(hear(since, since - 59).status->restarts, IsEmpty())
        << "the last answer was within the deadline";
  }
  EXPECT_EQ(hear(100, 40).status->restarts.back().reason, "Stalled");
}

TEST_F(Stall, IsWrittenDownSoThatTheNextOperatorCountsOn) {
  EXPECT_EQ(hear(50, 0).status->progress.advanced, world.cluster.now - Seconds(50));
}

TEST_F(Stall, NothingIsSaidOfRanksThatWereNeverAsked) {
  EXPECT_TRUE(decide_on().is_empty());
}

TEST_F(Stall, RanksThatDontAnswerAreSaidToBeUnheard) {
  EXPECT_EQ(condition(hear(59, 59, 12), kRunning).reason, "Training");
  const Decision deaf = hear(60, 60, kMissedToBeUnheard);
  EXPECT_TRUE(condition(deaf, kRunning).holds);
  EXPECT_EQ(condition(deaf, kRunning).reason, "Unheard");
  EXPECT_THAT(condition(deaf, kRunning).message,
              AllOf(HasSubstr("no server of them has answered the operator"), HasSubstr("network policy")));
  ASSERT_EQ(deaf.events.size(), 1U);
  EXPECT_TRUE(deaf.events[0].is_warning);
}

/// Where hundreds of jobs answer slowly, minutes pass between two questions to one of them.
TEST_F(Stall, RanksThatWereSeldomAskedAreNotUnheard) {
  for (const int seconds : {61, 180, 3000})
    for (int missed = 0; missed < kMissedToBeUnheard; ++missed)
      EXPECT_EQ(condition(hear(seconds, seconds, missed), kRunning).reason, "Training") << seconds;
}

TEST_F(Stall, AnOperatorThatHasJustStartedBelievesTheOneBefore) {
  const auto unheard = [&](const std::optional<ProgressReport>& heard) {
    return decide_on([&](Observed& seen) {
      set_condition(seen.job.status.conditions, {kRunning, true, "Unheard", "", seen.now, 1});
      seen.heard = heard;
    });
  };
  const Moment now = world.cluster.now;
  EXPECT_EQ(condition(unheard({}), kRunning).reason, "Unheard");
  EXPECT_EQ(condition(unheard(ProgressReport{{}, {}, now, {}}), kRunning).reason, "Unheard")
      << "asked, and not answered";
  EXPECT_EQ(condition(unheard(ProgressReport{Progress{.epoch = 7}, now, now, {}}), kRunning).reason,
            "Training");
}

TEST_F(Decide, RanksHaveAsLongAsTheirJobSaysHoweverLongThatIs) {
  train({{"/spec/runPolicy/progressDeadlineSeconds", std::numeric_limits<std::int64_t>::max()}});
  const Decision decision = decide_on([](Observed& seen) {
    for (Condition& c : seen.job.status.conditions) c.changed = seen.now - Seconds(5000);
    seen.heard = ProgressReport{Progress{.epoch = 7, .epochs = 200}, seen.now - Seconds(4000), seen.now, 3};
  });
  ASSERT_TRUE(decision.status);
  EXPECT_THAT(decision.status->restarts, IsEmpty());
}

TEST(StalledPreparation, ThatWroteNothingIsToldWithWhereToLook) {
  World world;
  world.cluster.does_prepare_hang = true;
  world.cluster.failed_prepare_log = "";
  world.atoll.submit(
      sample_job_json({{"/spec/runPolicy", {{"backoffLimit", 0}, {"prepareDeadlineSeconds", 60}}}}));
  world.run_to_end();
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kFailed)->message,
              HasSubstr("it wrote nothing to its log: see whether its volumes answer"));
}

}  // namespace
}  // namespace atl::ctl
