// The highest rates that a GPU reaches: limits for its kernels' times.
#pragma once

#include <algorithm>
#include <functional>

#include "base/random.h"
#include "base/threads.h"
#include "tensor/context.h"
#include "tensor/rates.h"

namespace atl {

/// Sizes to measure with: matrices of so many bytes, larger than any cache, and square products of this side.
struct DeviceRateSizes {
  Index bytes = Index(256) << 20, side = 4096;
};

/// Measures the first three rates of ctx's device: a · x + b · y, with three streams counted; copies of rows
/// of 256 bytes in random order, with reading and writing counted; large products. Throws Error where the
/// device's memory doesn't hold three such matrices.
MachineRates measure_device_rates(Context& ctx, const DeviceRateSizes& sizes = {});

// Operands of timed kernels: random numbers, because some hardware is faster on zeros.

/// In host memory; uniform in [−1, 1), the same on any number of threads.
inline Matrix random_matrix(Context& ctx, Index rows, Index cols, std::uint64_t seed) {
  Matrix m(rows, cols);
  const Draws draws(seed, Purpose::kGenerator);
  constexpr Index kRows = 1024;
  auto body = [&](Index chunk, int) {
    for (Index r = chunk * kRows; r < std::min(rows, (chunk + 1) * kRows); ++r) {
      for (Index c = 0; c < cols; ++c)
        m.at(r, c) = Real(2 * draws.uniform_at(std::uint64_t(r), std::uint64_t(c)) - 1);
    }
  };
  ctx.pool->run((rows + kRows - 1) / kRows, std::ref(body));
  return m;
}

}  // namespace atl
