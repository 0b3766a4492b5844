// Turns the results of calls of CUDA's libraries into errors that name the call.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "base/error.h"

namespace atl::cuda {

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

#define ATOLL_MUST(call) ::atl::cuda::must(call, #call)
