// Small jobs that train on emulated GPUs, with ranks as threads, and their expected results.
#pragma once

#include <gtest/gtest.h>

#include "comm/ranks.h"
#include "emulated.h"
#include "linked_ranks.h"
#include "tensor/cuda/backend.h"
#include "tensor/cuda/stream.h"
#include "train/every_model.h"
#include "train/small_job.h"

namespace atl::test {

constexpr double kTolerance = 1e-9;  // in double precision: the difference of sums in another order

/// All ranks on one GPU, or each on its own.
enum class Gpus { kShared, kOwn };

/// Sets up the emulated GPU, and restores the machine at the end of the test.
class OnEmulatedGpus : public testing::Test {
 protected:
  void SetUp() override { install_backend(&cuda::backend()); }
  void TearDown() override {
    install_backend(nullptr);
    emulated::set_gpus(1);
  }
  TemporaryFolder folder_;
};

inline void run_gpu_ranks(int ranks, Gpus gpus, const std::function<void(Communicator&)>& rank_main) {
  const bool own = gpus == Gpus::kOwn;
  const auto failures = failures_of_ranks(
      linked_group(ranks, own ? ranks : 1), {.timeout = std::chrono::seconds(20)}, [&](Communicator& comm) {
        EXPECT_STREQ(comm.transport_name(), own && ranks > 1 ? "nccl" : "local");
        rank_main(comm);
      });
  for (std::size_t r = 0; r < failures.size(); ++r)
    if (!failures[r].empty()) throw std::runtime_error("rank " + std::to_string(r) + ": " + failures[r]);
}

/// counts: non-null turns CUDA graphs on, and gets rank 0's counts. cusparse: it makes the sums over
/// neighbours.
inline SmallResult train_on_gpu(const Job& job, const std::filesystem::path& dataset, Gpus gpus, int epochs,
                                cuda::ReplayCounts* counts = nullptr, bool cusparse = false) {
  SmallResult result;
  run_gpu_ranks(job.placement.ranks, gpus, [&](Communicator& comm) {
    const OpenDevice device = backend().open(comm.rank());
    if (counts != nullptr) device.stream->replay_rounds();
    if (cusparse) device.stream->sum_by_library(true);
    SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, *device.stream);
    SmallResult mine = train_rank(comm, rank, epochs);
    if (comm.rank() != 0) return;
    result = std::move(mine);
    if (counts != nullptr) *counts = static_cast<cuda::Stream&>(*device.stream).rounds()->counts();
  });
  return result;
}

inline void expect_near(double got, double want) {
  EXPECT_NEAR(got, want, kTolerance * (1 + std::abs(want)));
}

inline void expect_alike(const SmallResult& gpu, const SmallResult& cpu) {
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

}  // namespace atl::test
