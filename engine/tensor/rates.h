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
  // The same two where a cache holds the arrays, of half of kNearBytes each; 0: taken to be the others.
  double near_triad_bytes = 0, near_gather_bytes = 0;
};

inline constexpr double kNearBytes = 16 << 20;  // a matrix that a cache holds, beside others

/// What kernels do, in the three units that the machine's rates are measured in.
struct ComputeWork {
  double product_flops = 0;   // of dense products
  double gathered_bytes = 0;  // neighbours' rows and the arcs that name them, without reuse in caches
  double streamed_bytes = 0;  // matrices read or written once, in order
  // Beside these, of matrices of at most kNearBytes, where that is told apart:
  double near_gathered_bytes = 0, near_streamed_bytes = 0;
  ComputeWork& operator+=(const ComputeWork& more) {
    product_flops += more.product_flops;
    gathered_bytes += more.gathered_bytes;
    streamed_bytes += more.streamed_bytes;
    near_gathered_bytes += more.near_gathered_bytes;
    near_streamed_bytes += more.near_streamed_bytes;
    return *this;
  }
  friend ComputeWork operator+(ComputeWork a, const ComputeWork& b) { return a += b; }
};

inline constexpr double kBitTime = 0.4;  // of a product with bits, beside the dense one of the same shape

/// Seconds at these rates, one kind of work after the other.
inline double seconds_of(const ComputeWork& work, const MachineRates& rates) {
  const double near_gather = rates.near_gather_bytes > 0 ? rates.near_gather_bytes : rates.gather_bytes,
               near_triad = rates.near_triad_bytes > 0 ? rates.near_triad_bytes : rates.triad_bytes;
  return work.product_flops / rates.product_flops + work.gathered_bytes / rates.gather_bytes +
         work.streamed_bytes / rates.triad_bytes + work.near_gathered_bytes / near_gather +
         work.near_streamed_bytes / near_triad;
}

/// Takes about two seconds and 0.6 GB, freed again.
MachineRates measure_rates(Context& ctx);

}  // namespace atl
