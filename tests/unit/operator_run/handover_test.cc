// Jobs between who decides and who writes: whose errand is run, when, and what voids it.
#include "operator/run/handover.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "operator_kube/fake_clock.h"

namespace atl::ctl {
namespace {

struct HandoverTest : testing::Test {
  kube::FakeClock clock;
  std::string urgent;
  Handover handover{clock, [this](const std::string& job) { return job == urgent; }};

  static Errand errand(const std::string& pod) {
    const auto now = NewsAge::Time::now();
    return {NewsAge(now, now, 0), Errand::Writes{{}, {}, {pod}}, false};
  }
  void decide(const std::string& job, const std::string& pod) {
    ASSERT_TRUE(handover.begin_look(job));
    handover.end_look(job, errand(pod));
  }
  /// "job: pod" of the next errand, which stays under way; or "".
  std::string take() {
    const auto taken = handover.take_now();
    return taken ? taken->first + ": " + *taken->second.writes->unseen.begin() : "";
  }
};

TEST_F(HandoverTest, ErrandsComeInOrderAndUrgentOnesFirst) {
  urgent = "c";
  for (const char* job : {"a", "b", "c"}) decide(job, "pod");
  EXPECT_EQ(take(), "c: pod");
  EXPECT_EQ(take(), "a: pod");
  EXPECT_EQ(take(), "b: pod");
  EXPECT_EQ(take(), "");
}

TEST_F(HandoverTest, TheLastDecisionIsWrittenInTheTurnOfTheFirst) {
  decide("a", "early");
  decide("b", "pod");
  decide("a", "late");
  EXPECT_EQ(take(), "a: late");
  EXPECT_EQ(take(), "b: pod");
  EXPECT_EQ(take(), "") << "each once";
}

TEST_F(HandoverTest, ALookVoidsWhatNobodyWritesYet) {
  decide("a", "pod");
  ASSERT_TRUE(handover.begin_look("a"));
  EXPECT_EQ(take(), "") << "it is being decided on";
  handover.end_look("a", {});
  EXPECT_EQ(take(), "") << "there is nothing to do any more";
  EXPECT_EQ(handover.size(), 0U);
}

/// Else one of which there is always news would never be written.
TEST_F(HandoverTest, AnErrandThatHasMissedItsTurnIsNotVoidedAgain) {
  decide("a", "early");
  ASSERT_TRUE(handover.begin_look("a"));
  EXPECT_EQ(take(), "") << "it is being decided on";
  handover.end_look("a", errand("late"));
  EXPECT_FALSE(handover.begin_look("a"));
  EXPECT_EQ(take(), "a: late");
  EXPECT_TRUE(handover.end("a")) << "there was news";
  decide("a", "next");
  decide("a", "last");
  EXPECT_EQ(take(), "a: last") << "this one has missed none";
  EXPECT_FALSE(handover.end("a"));
  EXPECT_EQ(handover.size(), 0U);
}

/// A Secret's name that was taken, a pod that was refused: whoever looked again would not know.
TEST_F(HandoverTest, WhatRestsOnTheLastWritesIsRunInAnyCase) {
  ASSERT_TRUE(handover.begin_look("a"));
  Errand last = errand("pod");
  last.rests_on_feedback = true;
  handover.end_look("a", std::move(last));
  EXPECT_FALSE(handover.begin_look("a"));
  EXPECT_EQ(take(), "a: pod");
  EXPECT_TRUE(handover.end("a")) << "there was news";
  EXPECT_EQ(handover.size(), 0U);
}

TEST_F(HandoverTest, ADecisionIsAsOldAsTheFirstNewsThatLedToIt) {
  decide("a", "early");
  const auto between = NewsAge::Time::now();
  decide("a", "late");
  const auto taken = handover.take_now();
  ASSERT_TRUE(taken);
  EXPECT_LE(taken->second.age.queued(), between);
}

TEST_F(HandoverTest, AJobWhoseErrandIsUnderWayIsLookedAtAfterwards) {
  decide("a", "pod");
  ASSERT_EQ(take(), "a: pod");
  EXPECT_FALSE(handover.begin_look("a"));
  EXPECT_TRUE(handover.begin_look("b")) << "others are";
  handover.end_look("b", {});
  EXPECT_TRUE(handover.end("a")) << "there was news";
  ASSERT_TRUE(handover.begin_look("a"));
  handover.end_look("a", {});
  EXPECT_EQ(handover.size(), 0U);
}

TEST_F(HandoverTest, AnErrandWithoutNewsEndsSo) {
  decide("a", "pod");
  EXPECT_TRUE(handover.has_errand("a"));
  ASSERT_EQ(take(), "a: pod");
  EXPECT_FALSE(handover.has_errand("a")) << "who writes it brings it back";
  EXPECT_FALSE(handover.end("a"));
  EXPECT_EQ(handover.size(), 0U);
}

TEST_F(HandoverTest, NothingIsDoneAboutAJobThatIsGone) {
  decide("a", "pod");
  handover.forget("a");
  EXPECT_EQ(take(), "");
  EXPECT_EQ(handover.size(), 0U);
}

/// Whoever runs an errand may find that its job is gone, and another is there of the same name.
TEST_F(HandoverTest, NewsThatComesWhileAnErrandIsUnderWayIsNotForgotten) {
  decide("a", "pod");
  ASSERT_EQ(take(), "a: pod");
  EXPECT_FALSE(handover.begin_look("a"));
  handover.forget("a");
  EXPECT_TRUE(handover.end("a"));
  EXPECT_EQ(handover.size(), 0U);
}

struct LargeWrites : HandoverTest {
  static constexpr std::size_t kLarge = Handover::kMostBytes / 3;

  void decide_much(const std::string& job, bool rests_on_feedback = false) {
    ASSERT_TRUE(handover.begin_look(job));
    Errand much = errand("pod");
    much.rests_on_feedback = rests_on_feedback;
    much.writes->decision.stages = {
        {{Write::Verb::kCreate, Kind::kPod, "pod", std::string(kLarge, 'x'), "", {}}}};
    handover.end_look(job, std::move(much));
  }
  /// Of the next errand, which ends.
  bool is_decided() {
    const auto taken = handover.take_now();
    if (!taken) return false;
    handover.end(taken->first);
    return taken->second.writes.has_value();
  }
};

TEST_F(LargeWrites, OfThemSoMuchWaitsAndTheRestIsDecidedAgain) {
  for (const char* job : {"a", "b", "c"}) decide_much(job);
  decide("small", "pod");
  EXPECT_TRUE(handover.has_errand("c")) << "it is run all the same";
  EXPECT_TRUE(is_decided());
  EXPECT_TRUE(is_decided());
  EXPECT_FALSE(is_decided()) << "a third would be too much";
  EXPECT_TRUE(is_decided());
  EXPECT_EQ(handover.size(), 0U);
}

TEST_F(LargeWrites, NoLongerCountOnceTheyAreRunOrVoid) {
  for (int again = 0; again < 4; ++again) decide_much("voided");
  decide_much("gone");
  handover.forget("gone");
  decide_much("other");
  EXPECT_TRUE(is_decided());
  EXPECT_TRUE(is_decided());
  decide_much("later");
  EXPECT_TRUE(is_decided());
}

/// No other look would know what it does.
TEST_F(LargeWrites, ThatRestOnFeedbackAreKept) {
  for (const char* job : {"a", "b"}) decide_much(job);
  decide_much("c", true);
  for (const char* job : {"a", "b", "c"}) EXPECT_TRUE(is_decided()) << job;
}

TEST_F(HandoverTest, WhoWaitsForErrandsEndsWhenToldTo) {
  std::stop_source stop;
  std::jthread waits([&] { EXPECT_FALSE(handover.take(stop.get_token())); });
  stop.request_stop();
}

TEST(NewsAge, StandsStillFromAQuestionToItsAnswer) {
  const auto begun = NewsAge::Time::now() - std::chrono::seconds(5);
  NewsAge age(begun, begun, run_queue_seconds());
  const double before = age.seconds();
  EXPECT_GE(before, 5);
  age.while_asking([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return 0;
  });
  EXPECT_LT(age.seconds(), before + 0.2);
  EXPECT_EQ(age.queued(), begun);
}

TEST(NewsAge, BeginsWhenEarlierWritesHaveEnded) {
  const auto now = NewsAge::Time::now();
  EXPECT_LT(NewsAge(now - std::chrono::seconds(50), now - std::chrono::seconds(1), 0).seconds(), 50);
}

TEST(NewsAge, CountsNoWaitForAProcessorAsWork) {
  const auto now = NewsAge::Time::now();
  const NewsAge age(now - std::chrono::seconds(5), now, run_queue_seconds() - 2);
  EXPECT_LE(age.seconds_in_work(), std::max(age.seconds() - 2, 0.0));
}

}  // namespace
}  // namespace atl::ctl
