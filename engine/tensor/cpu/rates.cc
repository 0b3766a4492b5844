// Triad, random row gather and sgemm: what this machine can do at most.
#include "tensor/rates.h"

#include <chrono>
#include <vector>

#include "tensor/cpu/arguments.h"
#include "tensor/cpu/blas.h"
#include "tensor/cpu/chunks.h"

namespace atl {
namespace {

/// Shortest time of `work` in seconds, over at least `runs` runs after one that warms up.
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

/// Of arrays of so many bytes each.
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

/// From a table of so many bytes.
double gather(Context& ctx, Index bytes) {
  constexpr Index kRowBytes = 256, kCols = kRowBytes / Index(sizeof(Real)), kPicks = Index(1) << 20,
                  kChunk = 512;
  const Index rows = bytes / kRowBytes;
  Matrix table(rows, kCols);
  table.zero();
  std::vector<VertexId> picks(std::size_t{kPicks});
  for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = VertexId(mix64(i) % std::uint64_t(rows));
  const MatrixView scratch = ctx.workspace->matrix("rates.gather", ctx.pool->threads() * kChunk, kCols);
  auto body = [&](Index chunk, int thread) {
    const simd::Out to{scratch.row(thread * kChunk), kCols};
    simd::loops().gather(plain(table), picks.data() + chunk * kChunk, to, kCols, 0, kChunk);
  };
  const double seconds = shortest(5, [&] { ctx.pool->run(kPicks / kChunk, std::ref(body)); });
  return double(kPicks * kRowBytes) / seconds;
}

double product(Context& ctx) {
  constexpr Index kSide = 1024;
  const int threads = ctx.pool->threads();
  Matrix a(kSide, kSide), b(kSide, kSide), out(threads * kSide, kSide);
  fill(ctx, 1, a);
  fill(ctx, 1, b);
  const double seconds = shortest(5, [&] {
    run_chunks(ctx, threads, [&](Index chunk) {
      blas_product(false, false, a, b, 0, out.view().slice_rows(chunk * kSide, kSide));
    });
  });
  return 2.0 * threads * kSide * kSide * kSide / seconds;
}

}  // namespace

MachineRates measure_rates(Context& ctx) {
  constexpr Index kArray = Index(128) << 20, kTable = Index(512) << 20;
  const Index near = ctx.pool->threads() * Index(kNearBytes / 2);
  return {triad(ctx, kArray), gather(ctx, kTable), product(ctx), triad(ctx, near), gather(ctx, near)};
}

}  // namespace atl
