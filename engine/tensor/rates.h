// What this machine can do at most, as limits for the measured times of kernels (`atoll bench`) and as the
// basis of predicted ones (`atoll plan`).
#pragma once

namespace atl {

struct Context;

/// Rates of all threads of one rank together, each the best of several runs.
struct MachineRates {
  double triad_bytes = 0;  // a second; a = b + s·c over arrays larger than any cache, three streams counted
  double gather_bytes =
      0;  // a second; reading rows of 256 bytes at random from a matrix larger than any cache
  double product_flops = 0;  // a second; dense products of 1024 × 1024, two operations per multiply-add
};

/// What kernels do, in the three units that the machine's rates are measured in.
struct ComputeWork {
  double product_flops = 0;   // of dense products
  double gathered_bytes = 0;  // neighbours' rows and the arcs that name them, without reuse in caches
  double streamed_bytes = 0;  // matrices read or written once, in order
  ComputeWork& operator+=(const ComputeWork& more) {
    product_flops += more.product_flops;
    gathered_bytes += more.gathered_bytes;
    streamed_bytes += more.streamed_bytes;
    return *this;
  }
};

inline constexpr double kBitTime = 0.4;  // of a product with bits, beside the dense one of the same shape

/// Seconds at these rates, one kind of work after the other.
inline double seconds_of(const ComputeWork& work, const MachineRates& rates) {
  return work.product_flops / rates.product_flops + work.gathered_bytes / rates.gather_bytes +
         work.streamed_bytes / rates.triad_bytes;
}

/// Takes about two seconds and 0.6 GB, freed again.
MachineRates measure_rates(Context& ctx);

}  // namespace atl
