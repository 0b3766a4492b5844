// training.precision: bfloat16, for every model under every strategy: losses near those of float32, the same
// bits on any number of threads and on a far device, and half the memory for layers' results.
#include <gtest/gtest.h>

#include "train/every_model.h"

namespace atl {
namespace {

constexpr int kEpochs = 5;

class InHalves : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  static Job job_in(const SmallCase& model, StrategyCase strategy, const char* precision) {
    strategy.fields.push_back(std::string("training.precision=") + precision);
    return job_of(model, strategy);
  }
  TemporaryFolder folder_;
};

TEST_P(InHalves, EveryStrategyLearnsNearlyTheSame) {
  for (const StrategyCase& strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    const auto train = [&](const char* precision, int threads) {
      return train_small(job_in(GetParam(), strategy, precision), folder_ / "small", strategy.ranks, kEpochs,
                         threads);
    };
    const SmallResult whole = train("float32", 1), halves = train("bfloat16", 1),
                      threads = train("bfloat16", 3);
    ASSERT_EQ(whole.losses.size(), halves.losses.size());
    EXPECT_NE(whole.losses, halves.losses) << "values are rounded";
    // Of a few vertices a step, a rounding early on leads far.
    const double near =
        strategy_of(job_in(GetParam(), strategy, "float32")).holds == Holds::kBatches ? 0.25 : 0.03;
    for (std::size_t e = 0; e < whole.losses.size(); ++e)
      EXPECT_NEAR(halves.losses[e], whole.losses[e], near * std::abs(whole.losses[e])) << "epoch " << e + 1;
    expect_same_bits(threads, halves);
  }
}

TEST_P(InHalves, FarDevicesTrainAlike) {
  const test::FarDevice device;
  unsigned seed = 7;
  for (const StrategyCase& strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    const Job job = job_in(GetParam(), strategy, "bfloat16");
    const SmallResult near = train_small(job, folder_ / "small", strategy.ranks, 2);
    expect_same_bits(train_far(job, folder_ / "small", seed += 10, 2), near);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, InHalves, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
