// strategy.granndis.memoryBudget: recompute comes first, because it changes no result, then as many batches
// as needed; what the manifest sets stays.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "command/run/job_room.h"
#include "strategies/granndis/info.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class BatchesBudget : public testing::Test {
 protected:
  BatchesBudget() { write_small_data(folder_ / "small", {.vertices = 3000, .arc_share = 0.001}); }

  static LoadedJob loaded(const std::string& options, const std::vector<std::string>& more = {}) {
    std::vector<std::string> fields{"model.layers=6",
                                    "model.hidden=64",
                                    "model.norm=layer",
                                    "strategy.kind=granndis",
                                    "strategy.granndis={" + options + "}",
                                    "placement.ranks=2"};
    fields.insert(fields.end(), more.begin(), more.end());
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  model: {kind: gcnii}\n",
        "small.yaml", fields);
  }
  Index peak(int batches, const std::string& recompute) const {
    const LoadedJob job = loaded("batches: " + std::to_string(batches), {"training.recompute=" + recompute});
    Index most = 0;
    for (const RankPlan& rank : memory_plan(job.job, dataset(), prepare_graph(job, dataset(), say), 1).ranks)
      most = std::max(most, rank.memory.peak());
    return most;
  }
  Job chosen(const std::string& options, const std::vector<std::string>& more = {}) const {
    return within_budget(loaded(options, more), dataset(), 1, say).job;
  }
  Dataset dataset() const { return Dataset::open(folder_ / "small"); }
  static void say(const std::string&) {}

  TemporaryFolder folder_;
};

std::string budget(Index bytes) {
  return "memoryBudget: " + std::to_string(bytes);
}

TEST_F(BatchesBudget, ChoosesTheFewestThatFit) {
  const Index plain = peak(1, "none"), repeated = peak(1, "layer"), halves = peak(2, "layer"),
              quarters = peak(4, "layer");
  ASSERT_LT(repeated, plain);
  ASSERT_LT(quarters, halves);
  const Job with_room = chosen(budget(plain));
  EXPECT_EQ(with_room.training.recompute, Recompute::kNone);
  EXPECT_EQ(expansion_of(with_room).batches, 1);
  EXPECT_EQ(chosen(budget(plain - 1)).training.recompute, Recompute::kLayer);
  EXPECT_EQ(expansion_of(chosen(budget(plain - 1))).batches, 1);
  const Job small = chosen(budget(quarters));
  EXPECT_EQ(small.training.recompute, Recompute::kLayer);
  EXPECT_EQ(expansion_of(small).batches, quarters < std::min(repeated, halves) ? 4 : 2);
}

TEST_F(BatchesBudget, LeavesAloneWhatTheManifestGives) {
  EXPECT_THAT([&] { chosen(budget(1000) + ", batches: 3"); },
              ThrowsMessage<Error>(HasSubstr("strategy.granndis.batches: 3 (use ")));
  EXPECT_THAT(
      [&] { chosen(budget(1000) + ", hops: 1", {"training.recompute=none"}); },
      ThrowsMessage<Error>(HasSubstr("training.recompute: none and strategy.granndis.batches: 1 (use ")));
}

/// More batches than a server has training vertices are no way, and nobody asked for them.
TEST_F(BatchesBudget, OfFewTrainingVerticesTriesNoMoreBatchesThanThese) {
  write_small_data(folder_ / "few", {.vertices = 60});
  const Dataset few = Dataset::open(folder_ / "few");
  EXPECT_THAT([&] { within_budget(loaded(budget(1000)), few, 1, say); },
              ThrowsMessage<Error>(
                  testing::AllOf(HasSubstr("1000 B a rank is too little: the least that the plan finds is"),
                                 HasSubstr("strategy.granndis.batches: "))));
}

}  // namespace
}  // namespace atl
