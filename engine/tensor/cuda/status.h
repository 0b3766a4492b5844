// What calls of CUDA's libraries answer, as errors that name the call.
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include "base/error.h"

namespace atl::cuda {

/// Throws Error with the call's name and CUDA's own words where it has failed.
inline void must(cudaError_t status, const char* call) {
  if (status != cudaSuccess) fail("device cuda: {}: {}", call, cudaGetErrorString(status));
}
inline void must(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS) fail("device cuda: {}: {}", call, cublasGetStatusString(status));
}

}  // namespace atl::cuda

#define ATOLL_MUST(call) ::atl::cuda::must(call, #call)
