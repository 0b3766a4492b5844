// Training with steps replayed as CUDA graphs: the same bits as without, whatever the model and the strategy.
#include "gpu_training.h"
#include "train/every_model.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 6;  // two to look at, one in which memory may still grow, and some that are replayed

class CudaGraphs : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  CudaGraphs() { write_small_data(folder_ / "small", GetParam().data); }
  /// What rank 0's graphs did.
  cuda::ReplayCounts expect_same(const StrategyCase& strategy) {
    SCOPED_TRACE(strategy.name);
    const Job job = job_of(GetParam(), strategy);
    emulated::set_seed(41);
    cuda::ReplayCounts counts;
    expect_same_bits(train_on_gpu(job, folder_ / "small", Gpus::kOwn, kEpochs, &counts),
                     train_on_gpu(job, folder_ / "small", Gpus::kOwn, kEpochs));
    return counts;
  }
};

TEST_P(CudaGraphs, OfFullBatchesAreReplayed) {
  const cuda::ReplayCounts alone = expect_same({"graph", 1, {"strategy.kind=graph"}});
  EXPECT_GE(alone.launches, kEpochs - 3);
  EXPECT_GT(alone.replayed, alone.calls / 3) << "of " << kEpochs << " steps, at least " << kEpochs - 3;
  EXPECT_GT(alone.set, 0) << "keys of draws and the step's number differ";
  EXPECT_GT(expect_same({"graph", 2, {"strategy.kind=graph"}}).launches, 0);
}
INSTANTIATE_TEST_SUITE_P(Models, CudaGraphs, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });

using CudaGraphsThatChange = CudaGraphs;
TEST_P(CudaGraphsThatChange, ComeToTheSame) {
  expect_same({"minibatch", 2, {"strategy.kind=minibatch", "strategy.minibatch.batchSize=7"}});
  expect_same({"bns", 2, {"strategy.kind=bns", "strategy.bns.rate=0.5"}});
}
INSTANTIATE_TEST_SUITE_P(Models, CudaGraphsThatChange,
                         testing::Values(SmallCase{"sage", {"model.kind=sage", "model.norm=batch"}},
                                         SmallCase{"gat",
                                                   {"model.kind=gat", "training.attentionDropout=0.4"}}),
                         [](const auto& one) { return one.param.name; });

using CudaGraphsOfStrategies = CudaGraphs;
TEST_P(CudaGraphsOfStrategies, EveryStrategyComesToTheSame) {
  for (const StrategyCase& strategy : every_strategy()) expect_same(strategy);
}
INSTANTIATE_TEST_SUITE_P(Models, CudaGraphsOfStrategies,
                         testing::Values(SmallCase{"gcn", {"model.norm=layer"}}),
                         [](const auto& one) { return one.param.name; });

/// Rates, keys of dropout and the step's number are arguments of kernels that a graph was captured with.
TEST_F(OnEmulatedGpus, ReplayStepsWithTheirOwnRatesAndDraws) {
  write_small_data(folder_ / "small", {});
  const Job job = small_job({"training.dropout=0.5", "training.inputDropout={rate: 0.3}"});
  const auto losses = [&](bool graphs) {
    std::vector<double> all;
    run_gpu_ranks(1, Gpus::kShared, [&](Communicator& comm) {
      const OpenDevice device = backend().open(0);
      if (graphs) device.stream->replay_rounds();
      SmallRank rank(comm, job, folder_ / "small", 1, {}, Device::kCuda, *device.stream);
      for (std::int64_t step = 1; step <= 10; ++step)
        all.push_back(rank.trainer->train_step(step, step == 8 ? 0.5 : 0.01 * double(step)));
      const cuda::Rounds* const rounds = static_cast<cuda::Stream&>(*device.stream).rounds();
      EXPECT_GE(graphs ? rounds->counts().launches : 7, 7);
    });
    return all;
  };
  EXPECT_EQ(losses(true), losses(false));
}

}  // namespace
}  // namespace atl::test
