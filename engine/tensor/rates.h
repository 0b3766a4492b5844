// What this machine can do at most, as limits for the measured times of kernels (`atoll bench`) and as the
// basis of predicted ones (`atoll plan`).
#pragma once

#include "tensor/context.h"

namespace atl {

/// Rates of all threads of one rank together, each the best of several runs.
struct MachineRates {
  double triad_bytes = 0;  // a second; a = b + s·c over arrays larger than any cache, three streams counted
  double gather_bytes =
      0;  // a second; reading rows of 256 bytes at random from a matrix larger than any cache
  double product_flops = 0;  // a second; dense products of 1024 × 1024, two operations per multiply-add
};

/// Takes about two seconds and 0.6 GB, freed again.
MachineRates measure_rates(Context& ctx);

}  // namespace atl
