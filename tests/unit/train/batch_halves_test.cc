// training.precision: bfloat16 in mini-batches: features are rounded once, when a rank reads them. So a run
// learns the same, to the bit, from features that are rounded already, wherever a batch's rows come from.
#include <gtest/gtest.h>

#include "train/every_model.h"

namespace atl {
namespace {

class BatchHalves : public testing::TestWithParam<StrategyCase> {
 protected:
  void SetUp() override {
    write_small_data(folder_ / "raw", {});
    write_small_data(folder_ / "rounded", {.rounded = true});
  }
  SmallResult train(const char* data, const char* precision) const {
    const SmallCase model{"sage", {"model.kind=sage", std::string("training.precision=") + precision}};
    const Job job = job_of(model, GetParam());
    return train_small(job, folder_ / data, job.placement.ranks, 4);
  }
  TemporaryFolder folder_;
};

TEST_P(BatchHalves, LearnTheSameFromRoundedFeatures) {
  expect_same_bits(train("raw", "bfloat16"), train("rounded", "bfloat16"));
  EXPECT_NE(train("raw", "float32").losses, train("rounded", "float32").losses);
}

std::vector<StrategyCase> cases() {
  const std::string of_seven = "strategy.minibatch.batchSize=7", batches = "strategy.kind=minibatch";
  return {
      {"minibatch_alone", 1, {batches, of_seven}},
      {"minibatch", 3, {batches, of_seven}},
      {"minibatch_cached",
       3,
       {batches, "strategy.minibatch={batchSize: 7, cache: {bytes: 900, policy: lru}}"}},
      {"minibatch_some_columns",
       3,
       {batches, "strategy.minibatch={batchSize: 7, featureRate: 0.5, fill: mean}"}},
      {"subgraphs", 2, {batches, "strategy.minibatch={sampler: saintVertex, draws: 25}"}},
      {"dgs", 2, {"strategy.kind=dgs", "strategy.dgs={batchSize: 7, explainEvery: 2, explainEpochs: 3}"}}};
}

INSTANTIATE_TEST_SUITE_P(Strategies, BatchHalves, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
