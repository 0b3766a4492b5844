// What calls of CUDA's libraries answer, as errors that name the call.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "base/error.h"

namespace atl::cuda {

/// Where a kernel has failed earlier, every call fails from then on: its name says nothing, so this says how
/// the kernel is found. "" else.
inline const char* how_to_find(cudaError_t status) {
  const bool is_of_a_kernel = status == cudaErrorIllegalAddress || status == cudaErrorMisalignedAddress ||
                              status == cudaErrorLaunchFailure;
  return is_of_a_kernel ? " (an earlier kernel has failed, and all calls do from then on; run again with "
                          "CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, which names the kernel)"
                        : "";
}

/// Throws Error with the call's name and CUDA's own words where it has failed.
inline void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    fail("device cuda: {}: {}{}", call, cudaGetErrorString(status), how_to_find(status));
}
inline void must(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("device cuda: {}: {}", call, cublasGetStatusString(status));
}

}  // namespace atl::cuda

#define ATOLL_MUST(call) ::atl::cuda::must(call, #call)
