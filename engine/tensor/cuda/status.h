// Turns the results of calls of CUDA's libraries into errors that name the call, and counts the calls, so
// that one which never returns is seen from outside.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>

#include "base/error.h"

namespace atl::cuda {

/// Exists while a thread is in a call.
class Calling {
 public:
  Calling() { begun_.fetch_add(1, std::memory_order_relaxed); }
  ~Calling() { ended_.fetch_add(1, std::memory_order_relaxed); }
  Calling(const Calling&) = delete;
  Calling& operator=(const Calling&) = delete;

  /// As Backend::call.
  static std::uint64_t present() {
    const std::uint64_t ended = ended_.load(), begun = begun_.load();
    return begun == ended ? 0 : ended + 1;
  }

 private:
  inline static std::atomic<std::uint64_t> begun_{0}, ended_{0};
};

/// Says how to find a kernel that failed. From then on every call fails, so the failing call's name says
/// nothing. "" for other errors.
inline const char* how_to_find(cudaError_t status) {
  const bool is_of_a_kernel = status == cudaErrorIllegalAddress || status == cudaErrorMisalignedAddress ||
                              status == cudaErrorLaunchFailure;
  return is_of_a_kernel ? " (an earlier kernel has failed, and all calls do from then on; run again with "
                          "CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, which names the kernel)"
                        : "";
}

/// If the call has failed, throws Error with its name and CUDA's own words.
inline void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    fail("device cuda: {}: {}{}", call, cudaGetErrorString(status), how_to_find(status));
}
inline void must(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("device cuda: {}: {}", call, cublasGetStatusString(status));
}

}  // namespace atl::cuda

#define ATOLL_MUST(call) ::atl::cuda::must((::atl::cuda::Calling(), (call)), #call)
