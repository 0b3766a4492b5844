// The highest rates that a GPU reaches: limits for its kernels' times.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "base/random.h"
#include "base/threads.h"
#include "tensor/context.h"
#include "tensor/copies.h"
#include "tensor/kernels.h"
#include "tensor/rates.h"

namespace atl {

/// Sizes to measure with: the bytes of a matrix, which is larger than any cache, and the side of the square
/// matrices that are multiplied.
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

// Measures with the catalogue's simplest kernels, because the host can't run loops of its own on the device.

inline constexpr Index kRateRowBytes = 256, kRateCols = kRateRowBytes / Index(sizeof(Real));

inline double triad_rate(Context& ctx, Index rows) {
  Matrix x(rows, kRateCols, ctx.device), y(rows, kRateCols, ctx.device);
  fill(ctx, 1, x), fill(ctx, 1, y);
  return 3.0 * double(x.bytes()) / shortest_seconds(ctx, [&] { axpby(ctx, Real(0.5), x, Real(0.5), y); });
}

inline double gather_rate(Context& ctx, Index rows) {
  Matrix table(rows, kRateCols, ctx.device), out(rows, kRateCols, ctx.device);
  fill(ctx, 1, table);
  std::vector<VertexId> picks(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = VertexId(mix64(i) % std::uint64_t(rows));
  DeviceCopies copies(ctx);
  const VertexId* const index = copies.of(std::span<const VertexId>(picks)).data();
  return 2.0 * double(out.bytes()) / shortest_seconds(ctx, [&] { gather_rows(ctx, table, index, out); });
}

inline double product_rate(Context& ctx, Index side) {
  const Matrix a = random_matrix(ctx, side, side, 1), b = random_matrix(ctx, side, side, 2);
  Matrix out(side, side, ctx.device);
  DeviceCopies copies(ctx);
  const ConstMatrixView left = copies.of(a), right = copies.of(b);
  return 2.0 * double(side) * double(side) * double(side) /
         shortest_seconds(ctx, [&] { gemm(ctx, left, right, out); });
}

inline MachineRates measure_device_rates(Context& ctx, const DeviceRateSizes& sizes) {
  const Index rows = sizes.bytes / kRateRowBytes;
  return {triad_rate(ctx, rows), gather_rate(ctx, rows), product_rate(ctx, sizes.side)};
}

}  // namespace atl
