// What tests may set of the emulated GPU, and what its parts share.
#pragma once

#include <cuda_runtime.h>

namespace emulated {

/// Draws of xorshift64 (Marsaglia 2003).
class Random {
 public:
  explicit Random(std::uint64_t seed = 1) : state_(seed * 0x9e3779b97f4a7c15ull | 1) {}
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    return state_ ^= state_ << 17;
  }

 private:
  std::uint64_t state_;
};

/// Seed of the orders of streams that are made from now on.
void set_seed(std::uint64_t seed);
/// What cudaGetDeviceCount answers from now on.
void answer_count_with(cudaError_t status);

}  // namespace emulated
