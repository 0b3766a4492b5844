// strategy.gnnpipe.memoryBudget: the choice fits, costs the least of those that do, and leaves what the
// manifest sets alone.
#include "command/run/job_room.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "strategies/gnnpipe/info.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int kThreads = 2;

class MemoryBudgets : public testing::Test {
 protected:
  MemoryBudgets() { write_small_data(folder_ / "small", {.vertices = 800, .arc_share = 0.01}); }

  LoadedJob loaded(const std::string& options, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> fields{"model.kind=gcnii",      "model.layers=6",
                                    "model.hidden=64",       "model.norm=layer",
                                    "strategy.kind=gnnpipe", "strategy.gnnpipe={" + options + "}",
                                    "placement.ranks=2",     "placement.partitioner=hash"};
    fields.insert(fields.end(), more.begin(), more.end());
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  model: {kind: gcn}\n",
        "small.yaml", fields);
  }
  Index peak(const std::string& options, const std::vector<std::string>& more = {}) const {
    const LoadedJob job = loaded(options, more);
    Index most = 0;
    for (const RankPlan& rank :
         memory_plan(job.job, dataset(), prepare_graph(job, dataset(), say), kThreads).ranks)
      most = std::max(most, rank.memory.peak());
    return most;
  }
  Job chosen(const std::string& options, const std::vector<std::string>& more = {}) const {
    return within_budget(loaded(options, more), dataset(), kThreads, say).job;
  }
  Dataset dataset() const { return Dataset::open(folder_ / "small"); }
  static void say(const std::string&) {}

  TemporaryFolder folder_;
};

std::string budget(Index bytes) {
  return "memoryBudget: " + std::to_string(bytes);
}

TEST_F(MemoryBudgets, ChooseWhatCostsLeastAndFits) {
  const Index plain = peak("chunks: 8"), repeated = peak("chunks: 8", {"training.recompute=layer"}),
              smaller = peak("chunks: 16", {"training.recompute=layer"});
  ASSERT_LT(repeated, plain);
  ASSERT_LT(smaller, repeated);
  const Job with_room = chosen(budget(plain));
  EXPECT_EQ(with_room.training.recompute, Recompute::kNone);
  EXPECT_EQ(pipeline_chunks(with_room), 8);
  for (const Index bytes : {plain - 1, repeated}) {
    EXPECT_EQ(chosen(budget(bytes)).training.recompute, Recompute::kLayer);
    EXPECT_EQ(pipeline_chunks(chosen(budget(bytes))), 8);
  }
  for (const Index bytes : {repeated - 1, smaller}) {
    EXPECT_EQ(chosen(budget(bytes)).training.recompute, Recompute::kLayer);
    EXPECT_EQ(pipeline_chunks(chosen(budget(bytes))), 16);
  }
}

TEST_F(MemoryBudgets, LeaveAloneWhatTheManifestGives) {
  const Index few = peak("chunks: 4"), none = peak("chunks: 16", {"training.recompute=none"});
  EXPECT_EQ(pipeline_chunks(chosen(budget(few - 1) + ", chunks: 4")), 4);
  const std::vector<std::string> kept{"training.recompute=none"};
  EXPECT_EQ(chosen(budget(none), kept).training.recompute, Recompute::kNone);
  EXPECT_EQ(pipeline_chunks(chosen(budget(none), kept)), 16);
  EXPECT_THAT(
      [&] { chosen(budget(few - 1) + ", chunks: 4", kept); },
      ThrowsMessage<Error>(HasSubstr("with training.recompute: none and strategy.gnnpipe.chunks: 4 (use ")));
}

TEST_F(MemoryBudgets, WithoutOneNothingIsChosen) {
  EXPECT_EQ(chosen("stages: 2"), loaded("stages: 2").job);
}

TEST_F(MemoryBudgets, ATooSmallOneNamesTheSmallestThatFits) {
  Index least = peak("chunks: 8");
  for (const char* chunks : {"chunks: 8", "chunks: 16", "chunks: 32", "chunks: 64"})
    least = std::min(least, peak(chunks, {"training.recompute=layer"}));
  const Index mebibytes = (least + (1 << 20) - 1) >> 20;
  EXPECT_THAT([&] { chosen(budget(1000)); },
              ThrowsMessage<Error>(HasSubstr("strategy.gnnpipe.memoryBudget: 1000 B a rank is too little")));
  EXPECT_THAT([&] { chosen(budget(1000)); },
              ThrowsMessage<Error>(HasSubstr("(use " + std::to_string(mebibytes) + "Mi or more")));
  EXPECT_NO_THROW(chosen(budget(mebibytes << 20)));
}

TEST_F(MemoryBudgets, OfFewVerticesCutThemIntoNoMoreChunksThanThereAre) {
  write_small_data(folder_ / "tiny", {.vertices = 60});
  const Dataset tiny = Dataset::open(folder_ / "tiny");
  EXPECT_THAT([&] { within_budget(loaded("stages: 1, " + budget(1000)), tiny, kThreads, say); },
              ThrowsMessage<Error>(HasSubstr("1000 B a rank is too little")));
}

TEST_F(MemoryBudgets, OfAJobOnAClusterSayWhatToGive) {
  const auto check = [&](const std::string& options) {
    check_budget(loaded(options, {"training.recompute=none"}), dataset(), kThreads, say);
  };
  const Index plain = peak("chunks: 8");
  EXPECT_NO_THROW(check(budget(plain)));
  EXPECT_THAT(
      [&] { check(budget(plain - 1)); },
      ThrowsMessage<Error>(HasSubstr("(use training.recompute: layer and strategy.gnnpipe.chunks: 8)")));
}

}  // namespace
}  // namespace atl
