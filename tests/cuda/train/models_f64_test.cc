// Every model under every strategy learns on the emulated GPU what it learns on the CPU, in double precision.
// Streams are late, in an order drawn from a seed. Ranks' rows travel through the host's memory and, for some
// models, over NCCL's links between GPUs (both: comm/transports.h).
#include "gpu_training.h"
#include "train/every_model.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 3;

class OnTheEmulatedGpu : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  void expect_all_alike(Gpus gpus) {
    write_small_data(folder_ / "small", GetParam().data);
    emulated::set_seed(17);
    for (const StrategyCase& strategy : every_strategy()) {
      SCOPED_TRACE(strategy.name);
      const Job job = job_of(GetParam(), strategy);
      const SmallResult cpu = train_small(job, folder_ / "small", strategy.ranks, kEpochs);
      expect_alike(train_on_gpu(job, folder_ / "small", gpus, kEpochs), cpu);
    }
  }
};

TEST_P(OnTheEmulatedGpu, EveryStrategyTrainsAlike) {
  expect_all_alike(Gpus::kShared);
}

using OnGpusOfTheirOwn = OnTheEmulatedGpu;
TEST_P(OnGpusOfTheirOwn, EveryStrategyTrainsAlike) {
  expect_all_alike(Gpus::kOwn);
}

/// Batches that read no neighbours (sampler none).
TEST_F(OnEmulatedGpus, OwnRowsTrainAlike) {
  write_small_data(folder_ / "small", {});
  emulated::set_seed(17);
  for (const char* setting : {"transductive", "inductive"}) {
    SCOPED_TRACE(setting);
    const Job job = small_job({"model.kind=sign", "model.options.hopLayers=2", "model.denseLayers=1",
                               "model.norm=batch", "strategy.kind=minibatch", "placement.ranks=2",
                               "strategy.minibatch={sampler: none, batchSize: 7}",
                               "training.inputDropout={rate: 0.3, position: afterAggregation}",
                               fmt::format("training.setting={}", setting)});
    const SmallResult cpu = train_small(job, folder_ / "small", 2, kEpochs);
    expect_alike(train_on_gpu(job, folder_ / "small", Gpus::kShared, kEpochs), cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OnTheEmulatedGpu, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, OnTheEmulatedGpu, testing::ValuesIn(other_data()),
                         [](const auto& one) { return one.param.name; });

/// One whose layers exchange rows alone, and one with attention: scores, too.
std::vector<SmallCase> two_models() {
  std::vector<SmallCase> two;
  for (const SmallCase& each : every_model())
    if (each.name == "gcn" || each.name == "gat") two.push_back(each);
  return two;
}
INSTANTIATE_TEST_SUITE_P(Models, OnGpusOfTheirOwn, testing::ValuesIn(two_models()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl::test
