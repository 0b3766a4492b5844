// training.precision: bfloat16 on the emulated GPU, for models with a softmax over neighbours. Losses are
// near the CPU's under every strategy, whether kernels find all values in halves or only some, as where
// several ranks' partial sums are joined.
#include <gtest/gtest.h>

#include "gpu_training.h"
#include "train/every_model.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 2;

class HalvesOnTheEmulatedGpu : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {};

TEST_P(HalvesOnTheEmulatedGpu, EveryStrategyLearnsNearlyTheSame) {
  emulated::set_seed(17);
  write_small_data(folder_ / "small", GetParam().data);
  for (StrategyCase strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    strategy.fields.emplace_back("training.precision=bfloat16");
    const Job job = job_of(GetParam(), strategy);
    const SmallResult cpu = train_small(job, folder_ / "small", strategy.ranks, kEpochs),
                      gpu = train_on_gpu(job, folder_ / "small", Gpus::kShared, kEpochs);
    // Sums of another order are rounded to another half at times; of a few vertices a step, that leads far.
    const double near = strategy_of(job).holds == Holds::kBatches ? 0.1 : 0.01;
    ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
    for (std::size_t e = 0; e < cpu.losses.size(); ++e)
      EXPECT_NEAR(gpu.losses[e], cpu.losses[e], near * std::abs(cpu.losses[e])) << "epoch " << e + 1;
  }
}

std::vector<SmallCase> softmax_models() {
  std::vector<SmallCase> found;
  for (const SmallCase& each : every_model())
    if (each.name.starts_with("gat") || each.name == "resgcn_softmax") found.push_back(each);
  return found;
}
INSTANTIATE_TEST_SUITE_P(Models, HalvesOnTheEmulatedGpu, testing::ValuesIn(softmax_models()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl::test
