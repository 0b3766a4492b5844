// Jobs that are said not to fit, and the advice given.
#include "plan/job_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atl {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Index kGib = Index(1) << 30;

/// `ranks` that hold 10 GiB each while they train, of which `weights` are replicated.
JobPlan plan_of(int ranks, Index weights) {
  JobPlan plan;
  for (Rank rank = 0; rank < ranks; ++rank) {
    RankPlan each;
    each.shape.rank = rank;
    each.memory.items = {{"features", 10 * kGib - weights}, {"parameters and moments", weights}};
    each.memory.training = 10 * kGib;
    each.memory.mapped = 5 * kGib;
    each.memory.loading = 14 * kGib;  // 9 GiB without pages of files
    each.memory.beside_gpu = 3 * kGib;
    plan.ranks.push_back(each);
  }
  return plan;
}

MemoryRoom room(double total, double available) {
  return {total * double(kGib), available * double(kGib), false};
}

TEST(Shortfall, NoneWhereAllRanksFitTogether) {
  EXPECT_FALSE(shortfall_here(plan_of(2, kGib), room(32, 21)));
  EXPECT_FALSE(shortfall_here(plan_of(2, kGib), MemoryRoom())) << "how much there is isn't known";
}

TEST(Shortfall, WhatMayBeFreedInTimeIsAWarning) {
  const auto shortfall = shortfall_here(plan_of(2, kGib), room(32, 12));
  ASSERT_TRUE(shortfall);
  EXPECT_FALSE(shortfall->certain);
  EXPECT_THAT(shortfall->text,
              HasSubstr("may not fit: its 2 ranks together need 20.0 GiB, this machine has 32.0 GiB, of "
                        "which 12.0 GiB are free now"));
}

/// A plan is off by a tenth at most.
TEST(Shortfall, IsCertainBeyondThePlansOwnError) {
  EXPECT_FALSE(shortfall_here(plan_of(2, kGib), room(18.1, 18))->certain);
  EXPECT_TRUE(shortfall_here(plan_of(2, kGib), room(17.9, 17))->certain);
}

TEST(Shortfall, MoreRanksHelpAgainstRowsAndNotAgainstWeights) {
  EXPECT_THAT(shortfall_here(plan_of(2, kGib), room(4, 4))->text,
              HasSubstr("use more ranks on more machines"));
  const std::string replicated = shortfall_here(plan_of(2, 8 * kGib), room(4, 4))->text;
  EXPECT_THAT(replicated, HasSubstr("8.00 GiB of it on each rank are weights"));
  EXPECT_THAT(replicated, HasSubstr("more ranks don't help, a smaller model.hidden"));
}

/// A machine of less memory than its GPUs have refused what they hold alone.
TEST(Shortfall, WhatGpusHoldTakesNothingOfTheHost) {
  EXPECT_TRUE(shortfall_here(plan_of(2, kGib), room(8, 7))->certain);
  EXPECT_FALSE(shortfall_here(plan_of(2, kGib), room(8, 7), true));
  const auto shortfall = shortfall_here(plan_of(2, kGib), room(5, 5), true);
  ASSERT_TRUE(shortfall && shortfall->certain);
  EXPECT_THAT(shortfall->text, HasSubstr("its 2 ranks together need 6.00 GiB, this machine has 5.00 GiB"));
  EXPECT_THAT(shortfall->text, HasSubstr("the host keeps the graph and the features"));
}

class OfResources : public testing::Test {
 protected:
  static std::optional<Shortfall> with(Index memory, int ranks_per_server, bool on_gpus = false) {
    Job job;
    job.placement.ranks = 4;
    job.placement.ranks_per_server = ranks_per_server;
    job.resources.memory = memory;
    JobPlan plan = plan_of(4, kGib);
    plan.ranks[1].memory.training = 20 * kGib;  // and its server's other rank 10
    return shortfall_of_resources(plan, job, on_gpus);
  }
};

TEST_F(OfResources, NoneWhereNothingIsSaid) {
  EXPECT_FALSE(with(0, 1));
  EXPECT_FALSE(with(21 * kGib, 1));
}

TEST_F(OfResources, ARankAloneInItsPodMustFitByItself) {
  const auto shortfall = with(16 * kGib, 1);
  ASSERT_TRUE(shortfall && shortfall->certain);
  EXPECT_THAT(
      shortfall->text,
      HasSubstr("resources.memory: 16.0 GiB is too little: rank 1 needs 20.0 GiB (use 22756Mi or more)"));
}

TEST_F(OfResources, APodOnGpusNeedsWhatTheHostHolds) {
  EXPECT_FALSE(with(3 * kGib, 1, true));
  const auto shortfall = with(2 * kGib, 1, true);
  ASSERT_TRUE(shortfall && shortfall->certain);
  EXPECT_THAT(shortfall->text, HasSubstr("2.00 GiB is too little: rank 0 needs 3.00 GiB"));
}

TEST_F(OfResources, RanksOfAPodShareItsMemory) {
  EXPECT_FALSE(with(16 * kGib, 2)) << "30 GiB in a pod of 32";
  EXPECT_THAT(with(14 * kGib, 2)->text, HasSubstr("ranks 0, 1 need 15.0 GiB each"));
  EXPECT_FALSE(with(14 * kGib, 2)->certain);
  EXPECT_TRUE(with(13 * kGib, 2)->certain);
}

}  // namespace
}  // namespace atl
