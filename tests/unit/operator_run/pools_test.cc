// Room that is kept for gangs which need different nodes: those that wait for one kind don't keep those that
// wait for another from having their turn.
#include "operator_run/many_gangs.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Two pools of five nodes, each of which a job of one rank holds.
struct Pools : ManyGangs {
  void SetUp() override {
    for (int n = 0; n < 10; ++n) {
      const bool is_first = n < 5;
      json made = node("n" + std::to_string(n));
      made["metadata"]["labels"]["pool"] = is_first ? "gpu" : "cpu";
      put("nodes", made);
    }
    for (int n = 0; n < 10; ++n) {
      const std::string job = "runs-" + std::to_string(n);
      add_job(job, 1, 5, n < 5 ? "gpu" : "cpu");
      look(job);
      ASSERT_TRUE(holds(caches.job("team/" + job)->status.conditions, kPlaced)) << job;
    }
  }
  /// So often that each is known to wait, and for whom room can be kept.
  void wait(const std::vector<std::string>& jobs) {
    for (int times = 0; times < 3; ++times)
      for (const std::string& job : jobs) look(job);
  }
  /// One job of the pool for CPUs ends, and kept room has moved to where it was.
  void end_one(int number) {
    remove_job("runs-" + std::to_string(number));
    now += Seconds(5);
  }
};

TEST_F(Pools, EachHasAGangThatIsServedFirst) {
  add_job("x-gpu", 2, 5, "gpu");
  add_job("y-cpu", 2, 5, "cpu");
  add_job("z-cpu", 1, 5, "cpu");
  wait({"x-gpu", "y-cpu", "z-cpu"});
  EXPECT_THAT(why("x-gpu"), HasSubstr("n0, n1 are kept for it"));
  EXPECT_THAT(why("y-cpu"), AllOf(HasSubstr("n5, n6 are kept for it"), Not(HasSubstr("x-gpu"))))
      << "whoever waits for GPUs is none of its affair";
  EXPECT_THAT(why("z-cpu"), HasSubstr("room is reserved for team/y-cpu, which comes first"));
  end_one(5);
  EXPECT_THAT(planner.could_fit_now(), IsEmpty()) << "else smaller ones would take each node for ever";
  end_one(6);
  EXPECT_THAT(planner.could_fit_now(), ElementsAre("team/y-cpu"));
}

TEST_F(Pools, AGangThatMayUseBothHasRoomKeptInTheOneThatIsLeft) {
  add_job("x-gpu", 2, 5, "gpu");
  add_job("y-any", 2, 5);
  wait({"x-gpu", "y-any"});
  EXPECT_THAT(why("x-gpu"), HasSubstr("n0, n1 are kept for it"));
  EXPECT_THAT(why("y-any"), AllOf(HasSubstr("n5, n6 are kept for it"), HasSubstr("reserved for team/x-gpu")));
}

TEST_F(Pools, NoRoomIsKeptForTwoThatNeedTheSame) {
  add_job("x-any", 2, 5);
  add_job("y-cpu", 2, 4.5, "cpu");
  wait({"x-any", "y-cpu"});
  EXPECT_THAT(why("x-any"), HasSubstr("n0, n1 are kept for it"));
  EXPECT_THAT(why("y-cpu"), Not(HasSubstr("kept for it"))) << "each would wait for what the other holds";
}

TEST_F(Pools, KeptRoomThatStayedForAWhileMovesWithoutFurtherNews) {
  add_job("x-gpu", 2, 5, "gpu");
  add_job("y-cpu", 2, 5, "cpu");
  wait({"x-gpu", "y-cpu"});
  remove_job("runs-9");
  EXPECT_THAT(planner.could_fit_now(), IsEmpty());
  EXPECT_THAT(why("y-cpu"), HasSubstr("n5, n6 are kept for it")) << "it was chosen a moment ago";
  EXPECT_EQ(planner.kept_room_stays(), Seconds(5)) << "then there is something to see";
  now += Seconds(5);
  EXPECT_THAT(why("y-cpu"), HasSubstr("n5, n9 are kept for it"));
  EXPECT_EQ(planner.kept_room_stays(), Seconds(0));
}

TEST_F(Pools, AnEarlierGangThatCouldFitAtLastTakesNothingFromThoseElsewhere) {
  for (const char* node : {"n0", "n1", "n2", "n3"}) put_other_pod(std::string("app-") + node, node, "7");
  add_job("h-gpu", 2, 5, "gpu");
  add_job("y-cpu", 2, 5, "cpu");
  add_job("z-cpu", 1, 5, "cpu");
  wait({"h-gpu", "y-cpu", "z-cpu"});
  EXPECT_THAT(why("h-gpu"), Not(HasSubstr("kept for it"))) << "others' pods need not ever end";
  EXPECT_THAT(why("y-cpu"), HasSubstr("n5, n6 are kept for it"));
  end_one(5);
  EXPECT_THAT(planner.could_fit_now(), IsEmpty());
  end_other_pod("app-n0");
  now += Seconds(5);
  EXPECT_THAT(planner.could_fit_now(), IsEmpty()) << "a smaller one would take the node of y-cpu";
  EXPECT_THAT(why("h-gpu"), HasSubstr("n0, n4 are kept for it"));
}

TEST_F(Pools, WhatIsKeptForOneWhoIsGoneIsOthers) {
  add_job("x-gpu", 2, 5, "gpu");
  add_job("y-cpu", 2, 5, "cpu");
  add_job("z-cpu", 1, 5, "cpu");
  wait({"x-gpu", "y-cpu", "z-cpu"});
  end_one(5);
  EXPECT_TRUE(planner.stop_waiting("team/y-cpu")) << "room was kept for it";
  EXPECT_THAT(planner.could_fit_now(), ElementsAre("team/z-cpu"));
}

}  // namespace
}  // namespace atl::ctl
