// This machine's peak rates, as limits for the measured times of kernels (`atoll bench`) and as the basis of
// predicted times (`atoll plan`).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>

#include "tensor/context.h"

namespace atl {

struct Context;

/// Bytes of a matrix that are assumed to fit, beside other data, in a core's own cache, and in the cache that
/// cores share.
inline constexpr std::array<double, 2> kCacheBytes{1 << 20, 16 << 20};

/// Memory that kernels access in order, and at random: bytes, or bytes per second.
struct KernelBytes {
  double streamed = 0, gathered = 0;
};
using ByCache = std::array<KernelBytes, kCacheBytes.size()>;

/// Rates of all threads of one rank together; each is the best of several runs.
struct MachineRates {
  double triad_bytes = 0;  // per second; a = b + s·c over arrays beyond all caches, three streams
  // per second; reading rows of 256 bytes at random from a matrix larger than any cache
  double gather_bytes = 0;
  // per second; the most that products could reach: multiply-adds in registers, 2 operations each; on a GPU
  // products of large matrices by its library
  double product_flops = 0;
  // Rates of the engine's own kernels, on which predictions are based (measure_kernels()). 0: not measured,
  // and the rates above stand for them.
  double kernel_flops = 0;  // for products of tall matrices
  double half_flops = 0;    // for such products in halves
  ByCache caches{};         // for matrices that a cache holds
  KernelBytes memory{};     // for larger ones
  double call_seconds = 0;  // per call of a kernel, whatever it does
};

/// A kernel's work, in the units of the machine's rates.
struct ComputeWork {
  double product_flops = 0;   // of dense products, or work that takes as long
  double gathered_bytes = 0;  // neighbours' rows and the arcs that name them, not reused in caches
  double streamed_bytes = 0;  // matrices read, or read and written, once and in order
  double half_flops = 0;      // of dense products of rows in halves
  ByCache cached{};           // gathered and streamed bytes of matrices that a cache holds
  double calls = 0;           // of kernels

  double all_flops() const { return product_flops + half_flops; }
  double all_gathered() const;
  double all_streamed() const;
  ComputeWork& operator+=(const ComputeWork& more);
  friend ComputeWork operator+(ComputeWork a, const ComputeWork& b) { return a += b; }
};

/// The cost of a kernel's call on a processor, besides its work; docs/simulate.md derives it. It is a
/// constant, because measuring so short a time takes effort, and a choice shouldn't differ from run to run.
inline constexpr double kCallSeconds = 0.5e-6;
inline constexpr double kBitTime = 0.4;  // time of a product with bits, relative to the dense one
/// Operations of a dense product that take as long as one term of a softmax (a column of an arc).
inline constexpr double kTermFlops = 50;

/// The work of accessing `bytes` bytes of a matrix of `of` bytes: in order (streamed), or at random
/// (gathered). Streamed bytes belong to the smallest cache that holds the whole matrix, otherwise to memory.
/// Gathered bytes are divided: each cache has the share of the matrix that it holds.
ComputeWork streamed(double bytes, double of);
ComputeWork gathered(double bytes, double of);

/// Seconds at these rates for each kind of work, and for all kinds one after the other.
double product_seconds(const ComputeWork& work, const MachineRates& rates);
double gather_seconds(const ComputeWork& work, const MachineRates& rates);
double stream_seconds(const ComputeWork& work, const MachineRates& rates);
inline double seconds_of(const ComputeWork& work, const MachineRates& rates) {
  return product_seconds(work, rates) + gather_seconds(work, rates) + stream_seconds(work, rates) +
         work.calls * rates.call_seconds;
}

/// Measures the first three rates. Takes about two seconds and 0.6 GB, which are freed again.
MachineRates measure_rates(Context& ctx);
/// Returns the seconds of a kernel's shortest call among `runs`.
using KernelTimer = std::function<double(int runs, const std::function<void()>& kernel)>;
double shortest_call(int runs, const std::function<void()>& kernel);
/// Adds the kernels' own rates to `rates`, in the units in which kernels count their work. Takes half a
/// second. If a processor's calls take exactly the seconds_of() their work, the result is that processor's
/// rates.
void measure_kernels(Context& ctx, MachineRates& rates, const KernelTimer& timer = shortest_call);

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// The shortest of at least five runs, or more if they fit in half a second.
template <class F>
double shortest_seconds(F&& work) {
  double best = 1e30;
  const double begin = seconds_now();
  for (int run = 0; run < 5 || seconds_now() - begin < 0.5; ++run) {
    const double start = seconds_now();
    work();
    best = std::min(best, seconds_now() - start);
  }
  return best;
}

/// Seconds from a call of `kernels` until their work is done, the least of several. A device gets several
/// calls before the host waits, so that its work hides the host's cost of a call, as in an epoch.
template <class F>
double shortest_seconds(Context& ctx, F&& kernels) {
  const int calls = memory_of(ctx.device).is_hosts ? 1 : 10;
  kernels();
  ctx.stream->synchronise();
  return shortest_seconds([&] {
           for (int call = 0; call < calls; ++call) kernels();
           ctx.stream->synchronise();
         }) /
         calls;
}

}  // namespace atl
