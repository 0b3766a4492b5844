// A training on a device whose memory is out of the host's reach and whose streams are late, and that it came to the same bits as on the host.
#pragma once

#include <gtest/gtest.h>

#include "comm/far_transport.h"
#include "train/small_job.h"

namespace atl {

inline SmallResult train_far(const Job& job, const std::filesystem::path& dataset, unsigned seed,
                             int epochs) {
  SmallResult result;
  test::run_far_ranks(job.placement.ranks, [&](Communicator& comm) {
    test::FarStream stream(seed + unsigned(comm.rank()));
    SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, stream);
    SmallResult mine = train_rank(comm, rank, epochs);
    if (comm.rank() == 0) result = std::move(mine);
  });
  return result;
}

inline void expect_same_bits(const SmallResult& far, const SmallResult& near) {
  EXPECT_EQ(far.losses, near.losses);
  EXPECT_EQ(far.validation, near.validation);
  EXPECT_EQ(far.validation_loss, near.validation_loss);
  EXPECT_EQ(far.weights, near.weights);
}

}  // namespace atl
