// Measures this machine's peak rates (triad, random row gather, multiply-adds in registers), and the rates of
// the engine's kernels on matrices of several sizes.
#include "tensor/rates.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <utility>
#include <vector>

#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
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

/// The most operations per second that any product could reach. A library's product would give a lower rate,
/// and not the same on every machine: a library chooses its loops by the processor's name, and slow ones for
/// a name that it doesn't know.
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

// Rates of kernels are in the units in which kernels count their work (tensor/dispatch/count.h). At the
// measured rates, the work that the measured kernel counts takes as long as the kernel took.

/// What a kernel counts in a call, and how long the call takes.
struct TimedWork {
  ComputeWork counted;
  double seconds = 0;
};

class KernelRates {
 public:
  KernelRates(Context& ctx, const KernelTimer& timer, MachineRates& rates)
      : ctx_(ctx), timer_(timer), rates_(rates) {}

  void measure() {
    constexpr std::array<Index, kCacheBytes.size() + 1> kBytes{Index(kCacheBytes[0] / 2),
                                                               Index(kCacheBytes[1] / 2), Index(128) << 20};
    static constexpr ScratchKey kReals, kRealSums, kHalves, kHalfSums;
    // Streams are measured first, because products and gathers stream too, and the time of this is taken off
    // theirs. Smaller caches are measured before larger ones, because a part of a large matrix lies in them.
    for (std::size_t c = 0; c < kBytes.size(); ++c) of_cache(c).streamed = stream(kBytes[c]);
    rates_.kernel_flops = tall_product(kReals, kRealSums, Storage::kReals);
    rates_.half_flops = tall_product(kHalves, kHalfSums, Storage::kHalves);
    for (std::size_t c = 0; c < kBytes.size(); ++c) of_cache(c).gathered = sums_of_rows(kBytes[c], c);
  }

 private:
  TimedWork time(int runs, const std::function<void()>& kernel) {
    TimedWork timed;
    ComputeWork* const before = std::exchange(ctx_.count, &timed.counted);
    kernel();
    ctx_.count = before;
    timed.seconds = timer_(runs, kernel);
    return timed;
  }

  /// The rates of cache `c`. After the last cache comes memory.
  KernelBytes& of_cache(std::size_t c) { return c < rates_.caches.size() ? rates_.caches[c] : rates_.memory; }

  /// The rate of `part`, which is one member of timed.counted. The time that the other members take, at the
  /// rates known so far, is taken off the kernel's. Noise can make that time nearly as long as the kernel's,
  /// so at least a quarter is left.
  double rate(const TimedWork& timed, double& part) const {
    const double work = std::exchange(part, 0);
    return work / std::max(timed.seconds - seconds_of(timed.counted, rates_), timed.seconds / 4);
  }

  /// Streams with a kernel that reads a matrix and changes another, together `bytes` bytes per thread.
  double stream(Index bytes) {
    constexpr Index kCols = 64;
    const Index rows = std::max<Index>(1, ctx_.pool->threads() * bytes / (2 * kCols * Index(sizeof(Real))));
    Matrix x(rows, kCols), out(rows, kCols);
    x.zero();
    out.zero();
    const TimedWork timed = time(9, [&] { axpby(ctx_, 1, x, 1, out); });
    return timed.counted.all_streamed() / timed.seconds;
  }

  /// Measures sums of 32 random rows each, from a matrix of `bytes` bytes; each thread reads all of it. `c`
  /// is the smallest cache that holds the matrix.
  double sums_of_rows(Index bytes, std::size_t c) {
    constexpr Index kCols = 64, kDegree = 32, kRowBytes = kCols * Index(sizeof(Real));
    const Index sources = bytes / kRowBytes, rows = ctx_.pool->threads() * Index(4096);
    std::vector<Index> offsets(std::size_t(rows + 1));
    for (Index row = 0; row <= rows; ++row) offsets[std::size_t(row)] = row * kDegree;
    std::vector<VertexId> columns(std::size_t(rows * kDegree));
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = VertexId(mix64(i) % std::uint64_t(sources));
    Matrix x(sources, kCols), out(rows, kCols);
    x.zero();
    out.zero();
    const Arcs arcs{{rows, sources, offsets.data(), columns.data(), nullptr}};
    TimedWork timed = time(5, [&] { spmm(ctx_, arcs, x, out); });
    ComputeWork& counted = timed.counted;
    return rate(timed, c < counted.cached.size() ? counted.cached[c].gathered : counted.gathered_bytes);
  }

  /// A product like a layer's: tall matrices, with a weight that fits a core's own cache.
  double tall_product(const ScratchKey& of, const ScratchKey& into, Storage storage) {
    constexpr Index kIn = 128, kOut = 64;
    const Index rows = ctx_.pool->threads() * Index(4096);
    const MatrixView a = ctx_.workspace->matrix(of, rows, kIn, storage);
    const MatrixView out = ctx_.workspace->matrix(into, rows, kOut, storage);
    Matrix w(kIn, kOut);
    fill(ctx_, 1, a);
    fill(ctx_, 1, w);
    TimedWork timed = time(20, [&] { gemm(ctx_, a, w, out); });
    const bool halves = storage == Storage::kHalves;
    return rate(timed, halves ? timed.counted.half_flops : timed.counted.product_flops);
  }

  Context& ctx_;
  const KernelTimer& timer_;
  MachineRates& rates_;
};

}  // namespace

MachineRates measure_rates(Context& ctx) {
  constexpr Index kArray = Index(128) << 20, kTable = Index(512) << 20;
  return {triad(ctx, kArray), gather(ctx, kTable), multiply_adds(ctx)};
}

/// Another process can slow a whole pass down, so there are several, and the fastest counts.
void measure_kernels(Context& ctx, MachineRates& rates, const KernelTimer& timer) {
  constexpr int kPasses = 3;
  MachineRates best = rates;
  const auto keep = [](double& fastest, double rate) { fastest = std::max(fastest, rate); };
  const auto keep_bytes = [&](KernelBytes& fastest, const KernelBytes& rate) {
    keep(fastest.streamed, rate.streamed), keep(fastest.gathered, rate.gathered);
  };
  for (int pass = 0; pass < kPasses; ++pass) {
    MachineRates once = rates;
    KernelRates(ctx, timer, once).measure();
    keep(best.kernel_flops, once.kernel_flops), keep(best.half_flops, once.half_flops);
    for (std::size_t c = 0; c < kCacheBytes.size(); ++c) keep_bytes(best.caches[c], once.caches[c]);
    keep_bytes(best.memory, once.memory);
  }
  rates = best;
}

double shortest_call(int runs, const std::function<void()>& kernel) {
  return shortest(runs, kernel);
}

}  // namespace atl
