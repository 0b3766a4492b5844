#include "tensor/cuda/backend.h"

#include "tensor/cuda/stream.h"

namespace atl::cuda {
namespace {

constexpr int kOldestArchitecture =
    80;  // compute capability times ten; the build has code for this one and newer

OpenDevice open(int rank_here) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorInsufficientDriver)
    fail(
        "device cuda: the NVIDIA driver of this machine is missing or older than CUDA {}.{}; use --device cpu",
        CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0))
    fail("device cuda: this machine has no NVIDIA GPU; use --device cpu");
  must(status, "cudaGetDeviceCount");
  const int gpu = rank_here % count;
  cudaDeviceProp properties{};
  ATOLL_MUST(cudaGetDeviceProperties(&properties, gpu));
  if (properties.major * 10 + properties.minor < kOldestArchitecture)
    fail(
        "device cuda: GPU {} ({}) has compute capability {}.{}, this build needs 8.0 or newer; use --device cpu",
        gpu, properties.name, properties.major, properties.minor);
  return {std::make_unique<Stream>(gpu, properties.l2CacheSize), std::string(properties.name),
          properties.totalGlobalMem};
}

}  // namespace

const Backend& backend() {
  static const Backend backend{gpu_memory(), kernels(), open,  &links(),
                               memory_bytes, pin,       unpin, Calling::present};
  return backend;
}

}  // namespace atl::cuda
