#include "tensor/cuda/backend.h"

#include <map>
#include <mutex>
#include <new>

#include "tensor/cuda/links.h"
#include "tensor/cuda/stream.h"

namespace atl::cuda {
namespace {

/// What was allocated, so that an operand from elsewhere is found before a kernel faults on it.
class Allocations {
 public:
  static Allocations& instance() {
    static Allocations all;
    return all;
  }
  void add(const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[reinterpret_cast<std::uintptr_t>(data)] = bytes;
  }
  void remove(const void* data) {
    const std::lock_guard lock(mutex_);
    sizes_.erase(reinterpret_cast<std::uintptr_t>(data));
  }
  bool hold(const void* data, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    const std::lock_guard lock(mutex_);
    const auto behind = sizes_.upper_bound(at);
    if (behind == sizes_.begin()) return false;
    const auto& [begin, size] = *std::prev(behind);
    return at + bytes <= begin + size;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> sizes_;
};

Allocation allocate(std::size_t wanted) {
  const std::size_t bytes = (wanted / 256 + 1) * 256;
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // is told here, and not again by the next launch
    std::size_t free = 0, total = 0;
    ATOLL_MUST(cudaMemGetInfo(&free, &total));
    fail(
        "device cuda: the GPU has no {:.1f} MB left ({:.2f} GB of {:.2f} GB are free); use more ranks, a smaller "
        "model, `training.recompute: layer`, or --device cpu",
        double(bytes) / 1e6, double(free) / 1e9, double(total) / 1e9);
  }
  must(status, "cudaMalloc");
  Allocations::instance().add(data, bytes);
  return {data, bytes};
}

void release(void* data) {
  if (data == nullptr) return;
  Allocations::instance().remove(data);
  Stream::end_segments();
  cudaDeviceSynchronize();  // a fault is told by the next call that can
  cudaFree(data);
}

/// Streams of ours don't wait for the default one, nor it for them.
template <class F>
void between_waits(F&& work) {
  Stream::end_segments();
  ATOLL_MUST(cudaDeviceSynchronize());
  work();
  ATOLL_MUST(cudaDeviceSynchronize());
}

void clear(void* data, std::size_t bytes) {
  between_waits([&] { ATOLL_MUST(cudaMemset(data, 0, bytes)); });
}
void copy(void* to, const void* from, std::size_t bytes) {
  between_waits([&] { ATOLL_MUST(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToDevice)); });
}
void upload(void* to, const void* from, std::size_t bytes) {
  between_waits([&] { ATOLL_MUST(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice)); });
}
void download(void* to, const void* from, std::size_t bytes) {
  between_waits([&] { ATOLL_MUST(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost)); });
}
bool holds(const void* data, std::size_t bytes) {
  return Allocations::instance().hold(data, bytes);
}

std::size_t memory_bytes() {
  std::size_t free = 0, total = 0;
  ATOLL_MUST(cudaMemGetInfo(&free, &total));
  return total;
}

/// What can't be pinned (too much of it, or memory that the system won't pin) is said by the answer, and not again by the next launch.
const void* pin(const void* data, std::size_t bytes) {
  void* const given = const_cast<void*>(data);  // read-only in fact, whatever CUDA's types say
  if (cudaHostRegister(given, bytes, cudaHostRegisterMapped) != cudaSuccess) {
    cudaGetLastError();
    return nullptr;
  }
  void* found = nullptr;
  ATOLL_MUST(cudaHostGetDevicePointer(&found, given, 0));
  Allocations::instance().add(found, bytes);
  return found;
}

void unpin(const void* data) {
  void* const given = const_cast<void*>(data);
  void* found = nullptr;
  Stream::end_segments();
  cudaDeviceSynchronize();
  cudaHostGetDevicePointer(&found, given, 0);
  Allocations::instance().remove(found);
  cudaHostUnregister(given);
}

constexpr int kOldest = 80;  // compute capability times ten: what the build has code for

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
  if (properties.major * 10 + properties.minor < kOldest)
    fail(
        "device cuda: GPU {} ({}) has compute capability {}.{}, this build needs 8.0 or newer; use --device cpu",
        gpu, properties.name, properties.major, properties.minor);
  return {std::make_unique<Stream>(gpu, properties.l2CacheSize), std::string(properties.name),
          properties.totalGlobalMem};
}

}  // namespace

const Backend& backend() {
  static const Backend backend{{.allocate = allocate,
                                .release = release,
                                .clear = clear,
                                .copy = copy,
                                .upload = upload,
                                .download = download,
                                .is_hosts = false,
                                .holds = holds},
                               kernels(),
                               open,
                               &links(),
                               memory_bytes,
                               pin,
                               unpin};
  return backend;
}

}  // namespace atl::cuda
