// Measures this machine's peak rates (triad, random row gather, multiply-adds in registers), and the rates of
// the engine's kernels on matrices of several sizes.
#include "tensor/rates.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/dispatch/count.h"
#include "tensor/kernels.h"

namespace atl {
namespace {

/// Shortest time of `work` in seconds, over at least `runs` runs after a warm-up run.
template <class F>
double shortest(int runs, F&& work) {
  work();
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// Triad on arrays of `bytes` bytes each.
double triad(Context& ctx, Index bytes) {
  const Index elements = bytes / Index(sizeof(Real));
  Matrix a(1, elements), b(1, elements), c(1, elements);
  fill(ctx, 1, a);
  b.zero();
  c.zero();
  const double seconds = shortest(5, [&] {
    for_rows(ctx, elements, 1, [&](Index begin, Index end) {
      Real *to = a.data(), *x = b.data(), *y = c.data();
      for (Index i = begin; i < end; ++i) to[i] = x[i] + Real(3) * y[i];
    });
  });
  return 3.0 * double(a.bytes()) / seconds;
}

/// Gathers rows from a table of `bytes` bytes.
double gather(Context& ctx, Index bytes) {
  constexpr Index kRowBytes = 256, kCols = kRowBytes / Index(sizeof(Real)), kPicks = Index(1) << 20,
                  kChunk = 512;
  const Index rows = bytes / kRowBytes;
  Matrix table(rows, kCols);
  table.zero();
  std::vector<VertexId> picks(std::size_t{kPicks});
  for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = VertexId(mix64(i) % std::uint64_t(rows));
  static constexpr ScratchKey kPicked;
  const MatrixView scratch = ctx.workspace->matrix(kPicked, ctx.pool->threads() * kChunk, kCols);
  auto body = [&](Index chunk, int thread) {
    const simd::Out to{scratch.row(thread * kChunk), kCols};
    simd::loops().gather(plain(table), picks.data() + chunk * kChunk, to, kCols, 0, kChunk);
  };
  const double seconds = shortest(5, [&] { ctx.pool->run(kPicks / kChunk, std::ref(body)); });
  return double(kPicks * kRowBytes) / seconds;
}

/// The bound of any product. A library's rate would be a lower one, and not the same on every machine: a
/// library chooses its loops by the processor's name, and those of an unknown name are slow.
double multiply_adds(Context& ctx) {
  constexpr Index kRounds = Index(1) << 19;
  const int threads = ctx.pool->threads();
  std::vector<Real> left(std::size_t(threads), 0);
  Index operations = 0;
  const double seconds = shortest(5, [&] {
    run_chunks(ctx, threads, [&](Index chunk) {
      const Index done = simd::loops().multiply_adds(kRounds, &left[std::size_t(chunk)]);
      if (chunk == 0) operations = done;
    });
  });
  return double(threads) * double(operations) / seconds;
}

/// Streams with a kernel that reads two matrices and writes one, together `bytes` bytes per thread.
double stream(Context& ctx, Index bytes) {
  constexpr Index kCols = 64;
  const Index rows = std::max<Index>(1, ctx.pool->threads() * bytes / (2 * kCols * Index(sizeof(Real))));
  Matrix x(rows, kCols), out(rows, kCols);
  x.zero();
  out.zero();
  return 3.0 * double(x.bytes()) / shortest(9, [&] { axpby(ctx, 1, x, 1, out); });
}

/// Sums of 32 random rows each from a matrix of `bytes` bytes; each thread reads all of it.
double sums_of_rows(Context& ctx, Index bytes) {
  constexpr Index kCols = 64, kDegree = 32, kRowBytes = kCols * Index(sizeof(Real));
  const Index sources = bytes / kRowBytes, rows = ctx.pool->threads() * Index(4096);
  std::vector<Index> offsets(std::size_t(rows + 1));
  for (Index row = 0; row <= rows; ++row) offsets[std::size_t(row)] = row * kDegree;
  std::vector<VertexId> columns(std::size_t(rows * kDegree));
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = VertexId(mix64(i) % std::uint64_t(sources));
  Matrix x(sources, kCols), out(rows, kCols);
  x.zero();
  out.zero();
  const Arcs arcs{{rows, sources, offsets.data(), columns.data(), nullptr}};
  return gathers(rows * kDegree, sources, kCols).all_gathered() /
         shortest(5, [&] { spmm(ctx, arcs, x, out); });
}

/// A product like a layer's: tall matrices, with a weight that fits a core's own cache.
double tall_product(Context& ctx, const ScratchKey& of, Storage storage) {
  constexpr Index kIn = 128, kOut = 64;
  const Index rows = ctx.pool->threads() * Index(4096);
  const MatrixView both = ctx.workspace->matrix(of, rows, kIn + kOut, storage);
  const MatrixView a = both.slice_cols(0, kIn), out = both.slice_cols(kIn, kOut);
  Matrix w(kIn, kOut);
  fill(ctx, 1, a);
  fill(ctx, 1, w);
  return 2.0 * double(rows * kIn * kOut) / shortest(20, [&] { gemm(ctx, a, w, out); });
}

}  // namespace

MachineRates measure_rates(Context& ctx) {
  constexpr Index kArray = Index(128) << 20, kTable = Index(512) << 20;
  return {triad(ctx, kArray), gather(ctx, kTable), multiply_adds(ctx)};
}

void measure_kernels(Context& ctx, MachineRates& rates) {
  constexpr Index kFar = Index(128) << 20;
  const auto of = [&](Index bytes) {
    return KernelBytes{.streamed = stream(ctx, bytes), .gathered = sums_of_rows(ctx, bytes)};
  };
  static constexpr ScratchKey kReals, kHalves;
  rates.kernel_flops = tall_product(ctx, kReals, Storage::kReals);
  rates.half_flops = tall_product(ctx, kHalves, Storage::kHalves);
  for (std::size_t c = 0; c < kCacheBytes.size(); ++c) rates.caches[c] = of(Index(kCacheBytes[c] / 2));
  rates.memory = of(kFar);
}

}  // namespace atl
