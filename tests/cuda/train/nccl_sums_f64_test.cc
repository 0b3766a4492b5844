// With training.deterministic: false, linked GPUs sum gradients by NCCL, in an order drawn from a seed. They
// learn what the CPU learns except for rounding, in double precision.
#include "gpu_training.h"
#include "train/every_model.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 3;

class NcclSums : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  void expect_alike_under(const StrategyCase& strategy, bool is_summed) {
    SCOPED_TRACE(strategy.name);
    Job job = job_of(GetParam(), strategy);
    const SmallResult cpu = train_small(job, folder_ / "small", strategy.ranks, kEpochs);
    job.training.deterministic = false;
    const std::int64_t before = emulated::nccl_sums();
    expect_alike(train_on_gpu(job, folder_ / "small", Gpus::kOwn, kEpochs), cpu);
    EXPECT_EQ(emulated::nccl_sums() > before, is_summed);
  }
};

TEST_P(NcclSums, TwoAndFourGpusLearnAlike) {
  write_small_data(folder_ / "small", GetParam().data);
  for (const int ranks : {2, 4}) {
    emulated::set_seed(std::uint64_t(100 * ranks));
    expect_alike_under({"graph", ranks, {"strategy.kind=graph"}}, true);
  }
}
INSTANTIATE_TEST_SUITE_P(Models, NcclSums, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });

/// A stage of gnnpipe has parameters of its own, whose sums stay the hosts', as do those of one rank.
bool sums_over_all(const StrategyCase& strategy) {
  return !strategy.name.starts_with("gnnpipe");
}

using NcclSumsOfStrategies = NcclSums;
TEST_P(NcclSumsOfStrategies, EveryStrategyLearnsAlike) {
  write_small_data(folder_ / "small", GetParam().data);
  emulated::set_seed(29);
  for (const StrategyCase& strategy : every_strategy()) expect_alike_under(strategy, sums_over_all(strategy));
}
INSTANTIATE_TEST_SUITE_P(Models, NcclSumsOfStrategies,
                         testing::Values(SmallCase{"gcn", {"model.norm=batch"}}),
                         [](const auto& one) { return one.param.name; });

TEST_F(OnEmulatedGpus, ThatShareOneSumInRankOrder) {
  write_small_data(folder_ / "small", {});
  const auto train = [&](const char* deterministic) {
    const Job job = small_job({"placement.ranks=2", std::string("training.deterministic=") + deterministic});
    return train_on_gpu(job, folder_ / "small", Gpus::kShared, kEpochs);
  };
  const SmallResult in_order = train("true"), asked = train("false");
  EXPECT_EQ(asked.losses, in_order.losses);
  EXPECT_EQ(asked.weights, in_order.weights);
}

}  // namespace
}  // namespace atl::test
