// Every model under every strategy on the emulated GPU, in double precision: what the CPU learns. Streams are late, in an order that a
// seed draws; ranks' rows leave and arrive by way of the host's memory (comm/staged_transport.h), and, for a model or two, by NCCL's
// links between GPUs of their own (comm/linked_transport.h).
#include <gtest/gtest.h>

#include "emulated.h"
#include "train/every_strategy.h"
#include "train/gpu_training.h"

namespace atl {
namespace {

constexpr int kEpochs = 3;
constexpr double kTolerance = 1e-9;

void expect_near(double got, double want) {
  EXPECT_NEAR(got, want, kTolerance * (1 + std::abs(want)));
}

void expect_alike(const SmallResult& gpu, const SmallResult& cpu) {
  ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
  for (std::size_t i = 0; i < gpu.losses.size(); ++i) expect_near(gpu.losses[i], cpu.losses[i]);
  expect_near(gpu.validation, cpu.validation);
  expect_near(gpu.validation_loss, cpu.validation_loss);
  ASSERT_EQ(gpu.weights.size(), cpu.weights.size());
  double worst = 0;
  for (std::size_t i = 0; i < gpu.weights.size(); ++i)
    worst = std::max(worst, std::abs(double(gpu.weights[i] - cpu.weights[i])));
  EXPECT_LE(worst, kTolerance);
}

class OnTheEmulatedGpu : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override {
    install_backend(&cuda::backend());
    write_small_data(folder_ / "small", GetParam().data);
  }
  void TearDown() override {
    install_backend(nullptr);
    emulated::set_gpus(1);
  }
  void expect_all_alike(Gpus gpus) {
    emulated::set_seed(17);
    for (const StrategyCase& strategy : every_strategy()) {
      SCOPED_TRACE(strategy.name);
      const Job job = job_of(GetParam(), strategy);
      const SmallResult cpu = train_small(job, folder_ / "small", strategy.ranks, kEpochs);
      expect_alike(train_on_gpu(job, folder_ / "small", kEpochs, gpus), cpu);
    }
  }
  TemporaryFolder folder_;
};

TEST_P(OnTheEmulatedGpu, EveryStrategyTrainsAlike) {
  expect_all_alike(Gpus::kShared);
}

using OnGpusOfTheirOwn = OnTheEmulatedGpu;
TEST_P(OnGpusOfTheirOwn, EveryStrategyTrainsAlike) {
  expect_all_alike(Gpus::kOwn);
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
}  // namespace atl
