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

double triad(Context& ctx) {
  constexpr Index kElements = (Index(128) << 20) / Index(sizeof(Real));
  Matrix a(1, kElements), b(1, kElements), c(1, kElements);
  fill(ctx, 1, a);
  b.zero();
  c.zero();
  const double seconds = shortest(5, [&] {
    for_rows(ctx, kElements, 1, [&](Index begin, Index end) {
      Real *to = a.data(), *x = b.data(), *y = c.data();
      for (Index i = begin; i < end; ++i) to[i] = x[i] + Real(3) * y[i];
    });
  });
  return 3.0 * double(a.bytes()) / seconds;
}

double gather(Context& ctx) {
  constexpr Index kCols = 256 / Index(sizeof(Real)), kRows = Index(1) << 21, kPicks = Index(1) << 20,
                  kChunk = 512;
  Matrix table(kRows, kCols);
  table.zero();
  std::vector<VertexId> picks(std::size_t{kPicks});
  for (std::size_t i = 0; i < picks.size(); ++i) picks[i] = VertexId(mix64(i) % std::uint64_t(kRows));
  const MatrixView scratch = ctx.workspace->matrix("rates.gather", ctx.pool->threads() * kChunk, kCols);
  auto body = [&](Index chunk, int thread) {
    const simd::Out to{scratch.row(thread * kChunk), kCols};
    simd::loops().gather(plain(table), picks.data() + chunk * kChunk, to, kCols, 0, kChunk);
  };
  const double seconds = shortest(5, [&] { ctx.pool->run(kPicks / kChunk, std::ref(body)); });
  return double(kPicks) * 256 / seconds;
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
  return {triad(ctx), gather(ctx), product(ctx)};
}

}  // namespace atl
