// In the place of the driver's header: the one call of it that Atoll uses, found by the runtime's cudaGetDriverEntryPointByVersion.
#pragma once

#include <cuda_runtime.h>

enum CUresult { CUDA_SUCCESS = 0, CUDA_ERROR_INVALID_VALUE = 1, CUDA_ERROR_NOT_SUPPORTED = 801 };
using CUstream = cudaStream_t;
using CUdeviceptr = unsigned long long;
using cuuint32_t = std::uint32_t;
enum CUstreamWaitValue_flags { CU_STREAM_WAIT_VALUE_GEQ = 0 };

/// What the stream is given afterwards is done when the number at the address, of pinned memory, isn't below the value.
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags);
