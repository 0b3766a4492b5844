// strategy.p3.memoryBudget: the most copies of the features' columns that fit; what the manifest sets stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "command/run/job_room.h"
#include "train/small_job.h"

namespace atl {
namespace {

class CopiesBudget : public testing::Test {
 protected:
  CopiesBudget() {
    write_small_data(folder_ / "small", {.vertices = 6000, .features = 200, .arc_share = 0.0003});
  }

  static LoadedJob loaded(const std::string& options) {
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  model: {kind: sage}\n",
        "small.yaml",
        {"strategy.kind=p3", "strategy.p3={batchSize: 64, fanout: [2, 2], " + options + "}",
         "placement.ranks=4", "model.hidden=8"});
  }
  Index peak(int copies) const {
    const LoadedJob job = loaded("copies: " + std::to_string(copies));
    Index most = 0;
    for (const RankPlan& rank : memory_plan(job.job, dataset(), prepare_graph(job, dataset(), say), 1).ranks)
      most = std::max(most, rank.memory.peak());
    return most;
  }
  std::int64_t chosen(const std::string& options) const {
    return within_budget(loaded(options), dataset(), 1, say).job.strategy.options.integer("copies");
  }
  Dataset dataset() const { return Dataset::open(folder_ / "small"); }
  static void say(const std::string&) {}

  TemporaryFolder folder_;
};

TEST_F(CopiesBudget, ChoosesTheMostThatFit) {
  const Index one = peak(1), two = peak(2), four = peak(4);
  ASSERT_LT(one, two);
  ASSERT_LT(two, four);
  const auto budget = [](Index bytes) { return "memoryBudget: " + std::to_string(bytes); };
  EXPECT_EQ(chosen(budget(four)), 4);
  EXPECT_EQ(chosen(budget(four - 1)), 2);
  EXPECT_EQ(chosen(budget(two - 1)), 1);
  EXPECT_EQ(chosen("copies: 1, " + budget(four)), 1);
  EXPECT_THAT([&] { chosen(budget(one / 2)); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("strategy.p3.memoryBudget: ")));
}

}  // namespace
}  // namespace atl
