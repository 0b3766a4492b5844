// Events of a decision for people: each change once, and a warning where the news is bad.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using DecideEvents = Decide;

TEST_F(DecideEvents, EachChangeIsToldOnce) {
  std::vector<std::string> told;
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : world.atoll.decide_on(seen).events)
      told.push_back((event.is_warning ? "! " : "") + event.reason + ": " + event.message);
  };
  submit();
  world.until_training();
  world.cluster.end_pod("cora-1-0", 137, "OOMKilled", R"({"rank":3,"signal":9,"reason":"OOMKilled"})");
  world.run_to_end();
  const std::vector<std::string> last(told.end() - 4, told.end());
  EXPECT_THAT(last, ElementsAre(HasSubstr("! OOMKilled: rank 3 in pod cora-1-0"), HasSubstr("! Replacing: "),
                                "Training: 4 ranks on 2 servers, attempt 2",
                                "Completed: training has ended: completed"));
  EXPECT_THAT(told, Not(Contains("Training: 4 ranks on 2 servers, attempt 1"))) << "the status tells it";
}

TEST_F(DecideEvents, WhatIsOnItsWayIsNoWarning) {
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : world.atoll.decide_on(seen).events)
      EXPECT_FALSE(event.is_warning) << event.reason << ": " << event.message;
  };
  submit();
  world.until_training();
  world.suspend(true);
  world.atoll.run(30, [&] { return world.atoll.state() == "Suspended"; });
}

TEST_F(DecideEvents, BadNewsAreWarnings) {
  submit();
  for (const char* node : {"n1", "n2", "n3"})
    world.cluster.occupy(node, 3000, std::string("stranger-") + node);
  bool has_warned = false;
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : world.atoll.decide_on(seen).events)
      if (event.reason == "NoRoom") has_warned |= event.is_warning;
  };
  world.atoll.run(20);
  EXPECT_TRUE(has_warned);
  EXPECT_THAT(decide_on().events, IsEmpty()) << "said once";
}

/// Else the last word of a job that trains would be that it can't be placed.
TEST_F(DecideEvents, ThatAGangHasPlacesIsToldOfOneThatWaitedForRoom) {
  std::vector<std::string> told;
  world.atoll.add = [&](Observed& seen) {
    for (const Event& event : world.atoll.decide_on(seen).events)
      told.push_back((event.is_warning ? "! " : "") + event.reason + ": " + event.message);
  };
  submit();
  for (const char* node : {"n1", "n2", "n3"})
    world.cluster.occupy(node, 3000, std::string("stranger-") + node);
  world.atoll.run(20);
  ASSERT_THAT(told, Contains(HasSubstr("! NoRoom: ")));
  world.cluster.pods.erase("stranger-n1");
  world.until_training();
  EXPECT_THAT(told.back(), AllOf(HasSubstr("Planned: 2 servers on "), HasSubstr("; it waited ")));
}

/// What the server refused may be forgotten between two looks, as where the first look's status was in
/// conflict.
TEST_F(DecideEvents, ADeletionThatIsTriedAgainCountsAsRefusedUntilItIsDone) {
  submit();
  world.until_training();
  const auto look = [&](bool is_suspended, bool is_refused) {
    return decide_on([=](Observed& seen) {
      seen.job.job->run_policy.suspend = is_suspended;
      set_condition(seen.job.status.conditions, {kSuspended, false, "Suspending", "", seen.now, 1});
      set_condition(seen.job.status.conditions, {kDeletionRefused, true, kDeletionRefused, "", seen.now, 1});
      if (is_refused) seen.undeleted = {{"Pod b", "kept"}, {"Pod a", "kept today"}};
    });
  };
  const Decision refused = look(true, true), tried_again = look(true, false), done = look(false, false);
  EXPECT_EQ(condition(refused, kDeletionRefused).message,
            "Pod a is to be deleted, which the API server refuses: kept today (and 1 more)");
  EXPECT_TRUE(condition(tried_again, kDeletionRefused).holds);
  ASSERT_TRUE(done.status);
  EXPECT_FALSE(condition(done, kDeletionRefused).holds);
}

}  // namespace
}  // namespace atl::ctl
