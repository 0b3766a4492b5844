// Measures with the catalogue's simplest kernels, because the host can't run loops of its own on the device.
#include "bench/device_rates.h"

#include <vector>

#include "base/random.h"
#include "tensor/copies.h"
#include "tensor/kernels.h"
#include "tensor/rates.h"

namespace atl {
namespace {

constexpr Index kRowBytes = 256, kCols = kRowBytes / Index(sizeof(Real));

double triad(Context& ctx, Index rows) {
  Matrix x(rows, kCols, ctx.device), y(rows, kCols, ctx.device);
  fill(ctx, 1, x), fill(ctx, 1, y);
  return 3.0 * double(x.bytes()) / shortest_seconds(ctx, [&] { axpby(ctx, Real(0.5), x, Real(0.5), y); });
}

double gather(Context& ctx, Index rows) {
  Matrix table(rows, kCols, ctx.device), out(rows, kCols, ctx.device);
  fill(ctx, 1, table);
  std::vector<VertexId> picks(static_cast<std::size_t>(rows));
  for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = VertexId(mix64(i) % std::uint64_t(rows));
  DeviceCopies copies(ctx);
  const VertexId* const index = copies.of(std::span<const VertexId>(picks)).data();
  return 2.0 * double(out.bytes()) / shortest_seconds(ctx, [&] { gather_rows(ctx, table, index, out); });
}

double product(Context& ctx, Index side) {
  const Matrix a = random_matrix(ctx, side, side, 1), b = random_matrix(ctx, side, side, 2);
  Matrix out(side, side, ctx.device);
  DeviceCopies copies(ctx);
  const ConstMatrixView left = copies.of(a), right = copies.of(b);
  return 2.0 * double(side) * double(side) * double(side) /
         shortest_seconds(ctx, [&] { gemm(ctx, left, right, out); });
}

}  // namespace

MachineRates measure_device_rates(Context& ctx, const DeviceRateSizes& sizes) {
  const Index rows = sizes.bytes / kRowBytes;
  return {triad(ctx, rows), gather(ctx, rows), product(ctx, sizes.side)};
}

}  // namespace atl
