// Training of a small job whose ranks are threads with emulated GPUs.
#pragma once

#include <gtest/gtest.h>

#include "comm/ranks.h"
#include "linked_ranks.h"
#include "tensor/cuda/backend.h"
#include "train/small_job.h"

namespace atl {

/// All on one GPU, or each on one of its own.
enum class Gpus { kShared, kOwn };

inline void run_gpu_ranks(int ranks, Gpus gpus, const std::function<void(Communicator&)>& rank_main) {
  const bool own = gpus == Gpus::kOwn;
  const auto failures =
      failures_of_ranks(test::linked_group(ranks, own ? ranks : 1), {.timeout = std::chrono::seconds(20)},
                        [&](Communicator& comm) {
                          EXPECT_STREQ(comm.transport_name(), own && ranks > 1 ? "nccl" : "local");
                          rank_main(comm);
                        });
  for (std::size_t r = 0; r < failures.size(); ++r)
    if (!failures[r].empty()) throw std::runtime_error("rank " + std::to_string(r) + ": " + failures[r]);
}

inline SmallResult train_on_gpu(const Job& job, const std::filesystem::path& dataset, int epochs, Gpus gpus) {
  SmallResult result;
  run_gpu_ranks(job.placement.ranks, gpus, [&](Communicator& comm) {
    const OpenDevice device = backend().open(comm.rank());
    SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, *device.stream);
    SmallResult mine = train_rank(comm, rank, epochs);
    if (comm.rank() == 0) result = std::move(mine);
  });
  return result;
}

}  // namespace atl
