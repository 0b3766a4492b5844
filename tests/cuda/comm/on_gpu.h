// Set-up of tests whose ranks are on emulated GPUs.
#pragma once

#include <gtest/gtest.h>

#include "linked_ranks.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"

namespace atl::test {

constexpr Index kRows = 3, kCols = 5;

class OnLinkedGpus : public testing::Test {
 protected:
  void SetUp() override { install_backend(&cuda::backend()); }
  void TearDown() override {
    install_backend(nullptr);
    emulated::set_gpus(1);
    emulated::hide_nccl(false);
    emulated::refuse_to_join(-1);
    emulated::refuse_to_launch(-1);
  }
};

/// A rank's objects on its GPU, for the rank's compute thread.
struct OnGpu {
  explicit OnGpu(const Communicator& comm) : device(backend().open(comm.rank())) {
    ctx.stream = device.stream.get();
    ctx.device = Device::kCuda;
  }
  Matrix rows(Real value) {
    Matrix host(kRows, kCols), m(kRows, kCols, Device::kCuda);
    std::fill_n(host.data(), kRows * kCols, value);
    ctx.stream->upload(m.data(), host.data(), std::size_t(kRows * kCols) * sizeof(Real));
    return m;
  }
  Real last_of(const Matrix& m) { return read(ctx, m.data() + kRows * kCols - 1); }

  OpenDevice device;
  Context ctx;
};

}  // namespace atl::test
