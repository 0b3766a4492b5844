// Every model under every strategy on the emulated GPU, in double precision: what the CPU learns. Streams are late, in an order that a
// seed draws; ranks' rows leave and arrive by way of the host's memory (comm/staged_transport.h).
#include <gtest/gtest.h>

#include "comm/ranks.h"
#include "comm/staged_transport.h"
#include "emulated.h"
#include "tensor/cuda/backend.h"
#include "train/every_strategy.h"

namespace atl {
namespace {

constexpr int kEpochs = 3;
constexpr double kTolerance = 1e-9;

void run_gpu_ranks(int ranks, const std::function<void(Communicator&)>& rank_main) {
  std::vector<std::unique_ptr<Transport>> transports;
  for (auto& host : make_local_group(ranks))
    transports.push_back(make_staged_transport(std::move(host), [] { return backend().open(0).stream; }));
  const auto failures = failures_of_ranks(std::move(transports), {}, rank_main);
  for (std::size_t r = 0; r < failures.size(); ++r)
    if (!failures[r].empty()) throw std::runtime_error("rank " + std::to_string(r) + ": " + failures[r]);
}

SmallResult train_on_gpu(const Job& job, const std::filesystem::path& dataset) {
  SmallResult result;
  run_gpu_ranks(job.placement.ranks, [&](Communicator& comm) {
    const OpenDevice device = backend().open(0);
    SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, *device.stream);
    SmallResult mine = train_rank(comm, rank, kEpochs);
    if (comm.rank() == 0) result = std::move(mine);
  });
  return result;
}

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
  void TearDown() override { install_backend(nullptr); }
  TemporaryFolder folder_;
};

TEST_P(OnTheEmulatedGpu, EveryStrategyTrainsAlike) {
  emulated::set_seed(17);
  for (const StrategyCase& strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    const Job job = job_of(GetParam(), strategy);
    const SmallResult cpu = train_small(job, folder_ / "small", strategy.ranks, kEpochs);
    expect_alike(train_on_gpu(job, folder_ / "small"), cpu);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, OnTheEmulatedGpu, testing::ValuesIn(every_model()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, OnTheEmulatedGpu, testing::ValuesIn(other_data()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
