// What this machine can do at most, as limits for the measured times of kernels (`atoll bench`) and as the
// basis of predicted ones (`atoll plan`).
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

#include "tensor/context.h"

namespace atl {

struct Context;

/// Bytes of the largest matrix that a core's own cache, and then the cache that cores share, are taken to
/// hold beside other data.
inline constexpr std::array<double, 2> kCacheBytes{1 << 20, 16 << 20};

/// What kernels read and write in order, and at random: bytes, or bytes a second.
struct KernelBytes {
  double streamed = 0, gathered = 0;
};
using ByCache = std::array<KernelBytes, kCacheBytes.size()>;

/// Rates of all threads of one rank together, each the best of several runs.
struct MachineRates {
  double triad_bytes = 0;  // a second; a = b + s·c over arrays larger than any cache, three streams counted
  // a second; reading rows of 256 bytes at random from a matrix larger than any cache
  double gather_bytes = 0;
  double product_flops = 0;  // a second; dense products of 1024 × 1024, two operations per multiply-add
  // What the engine's own kernels reach, which predictions go by (measure_kernels()). 0: taken to be the
  // above.
  double kernel_flops = 0;  // of products of tall matrices
  double half_flops = 0;    // of those in halves
  ByCache caches{};         // of matrices that a cache holds
  KernelBytes memory{};     // of larger ones
  double call_seconds = 0;  // of a kernel's call, whatever it does
};

/// What kernels do, in the units that the machine's rates are measured in.
struct ComputeWork {
  double product_flops = 0;   // of dense products, or of what takes as long
  double gathered_bytes = 0;  // neighbours' rows and the arcs that name them, without reuse in caches
  double streamed_bytes = 0;  // matrices read or written once, in order
  double half_flops = 0;      // of dense products of rows in halves
  ByCache cached{};           // beside these two, of matrices that a cache holds
  double calls = 0;           // of kernels

  double all_flops() const { return product_flops + half_flops; }
  double all_gathered() const;
  double all_streamed() const;
  ComputeWork& operator+=(const ComputeWork& more);
  friend ComputeWork operator+(ComputeWork a, const ComputeWork& b) { return a += b; }
};

/// A kernel's call on a processor, beside what the kernel does: docs/simulate.md says from what it follows. A
/// constant, because so short a time isn't measured in passing, and a choice shouldn't differ from run to
/// run.
inline constexpr double kCallSeconds = 0.5e-6;
inline constexpr double kBitTime = 0.4;  // of a product with bits, beside the dense one of the same shape
/// Operations of a dense product that take as long as a softmax's term, in a column of an arc.
inline constexpr double kTermFlops = 50;

/// Bytes of a matrix of `of` bytes, in order, and at random.
ComputeWork streamed(double bytes, double of);
ComputeWork gathered(double bytes, double of);

/// Seconds at these rates, and of all kinds of work, one after the other.
double product_seconds(const ComputeWork& work, const MachineRates& rates);
double gather_seconds(const ComputeWork& work, const MachineRates& rates);
double stream_seconds(const ComputeWork& work, const MachineRates& rates);
inline double seconds_of(const ComputeWork& work, const MachineRates& rates) {
  return product_seconds(work, rates) + gather_seconds(work, rates) + stream_seconds(work, rates) +
         work.calls * rates.call_seconds;
}

/// The first three. Takes about two seconds and 0.6 GB, freed again.
MachineRates measure_rates(Context& ctx);
/// Adds what kernels reach. Takes a tenth of a second.
void measure_kernels(Context& ctx, MachineRates& rates);

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Shortest of at least five runs, and of as many as half a second holds.
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

/// Of a call of kernels, until they are done. A device is given some calls before the host waits, so that its
/// work hides what a call costs the host, as it does in an epoch.
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
