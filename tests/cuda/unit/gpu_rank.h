// A rank on the GPU that the program is linked with: a real or the emulated one.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

#include "base/threads.h"
#include "tensor/bfloat16.h"
#include "tensor/buffer.h"
#include "tensor/copies.h"
#include "tensor/cuda/backend.h"
#include "tensor/fixtures.h"

namespace atl::test {

struct GpuRank {
  GpuRank() {
    install_backend(&cuda::backend()), open = backend().open(0),
                                       ctx = {Device::kCuda, &pool, &workspace, open.stream.get()};
  }
  ~GpuRank() { workspace = Workspace(Device::kCuda); }
  OpenDevice open;
  ThreadPool pool{1};
  Workspace workspace{Device::kCuda};
  Context ctx;
};

}  // namespace atl::test
