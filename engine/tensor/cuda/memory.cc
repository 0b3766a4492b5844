// The GPUs' memory, with the engine's interface (tensor/memory.h).
#include "tensor/cuda/backend.h"

#include <iterator>
#include <list>
#include <map>
#include <mutex>
#include <new>
#include <thread>

#include "tensor/cuda/reserve.h"
#include "tensor/cuda/stream.h"

namespace atl::cuda {
namespace {

int this_threads_gpu() {
  int gpu = 0;
  ATOLL_MUST(cudaGetDevice(&gpu));
  return gpu;
}

/// Knows all allocations, so that an operand from elsewhere is found before a kernel faults on it, and the
/// reserves from which pieces are given.
class Allocations {
 public:
  static Allocations& instance() {
    static Allocations all;
    return all;
  }
  void add(const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[address(data)] = bytes;
  }
  void remove(const void* data) {
    const std::lock_guard lock(mutex_);
    sizes_.erase(address(data));
  }
  bool hold(const void* data, std::size_t bytes) const {
    const std::uintptr_t at = address(data);
    const std::lock_guard lock(mutex_);
    const auto stop = sizes_.upper_bound(at);
    if (stop == sizes_.begin()) return false;
    const auto& [begin, size] = *std::prev(stop);
    return at + bytes <= begin + size;
  }

  void add_reserve(void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    reserves_.push_back({static_cast<std::byte*>(data), bytes, this_threads_gpu(), std::this_thread::get_id(),
                         Reserve(bytes)});
  }
  /// A piece of the reserve on this thread's GPU; null: none is large enough.
  void* take_piece(std::size_t bytes) {
    const int gpu = this_threads_gpu();
    const std::lock_guard lock(mutex_);
    for (Reserved& each : reserves_) {
      if (each.gpu != gpu || each.ends) continue;
      if (const auto at = each.pieces.take(bytes)) return each.data + *at;
    }
    return nullptr;
  }
  struct GivenBack {
    bool was_piece = false;
    void* to_free = nullptr;
  };
  GivenBack give_back(void* data) {
    const std::lock_guard lock(mutex_);
    for (Reserved& each : reserves_) {
      if (!each.holds(data)) continue;
      each.pieces.give_back(std::size_t(static_cast<std::byte*>(data) - each.data));
      return {true, forget_if_over(each)};
    }
    return {};
  }
  /// Ends this thread's reserve: no more pieces are taken from it. Returns the memory to free, if any.
  void* end_reserve() {
    const std::lock_guard lock(mutex_);
    for (Reserved& each : reserves_) {
      if (each.by != std::this_thread::get_id() || each.ends) continue;
      each.ends = true;
      return forget_if_over(each);
    }
    return nullptr;
  }

 private:
  struct Reserved {
    std::byte* data;
    std::size_t bytes;
    int gpu;
    std::thread::id by;
    Reserve pieces;
    bool ends = false;
    bool holds(const void* at) const { return address(at) - address(data) < bytes; }
  };
  static std::uintptr_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }
  void* forget_if_over(const Reserved& which) {
    if (!which.ends || !which.pieces.all_free()) return nullptr;
    void* const data = which.data;
    reserves_.remove_if([&](const Reserved& each) { return &each == &which; });
    return data;
  }

  mutable std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> sizes_;
  std::list<Reserved> reserves_;  // of this process; there are few
};

Allocation allocate(std::size_t wanted) {
  const std::size_t bytes = (wanted / Reserve::kUnit + 1) * Reserve::kUnit;
  void* data = Allocations::instance().take_piece(bytes);
  if (data == nullptr) {
    Stream::settle();
    const Calling calling;
    const cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // reported here, not again by the next launch
      std::size_t free = 0, total = 0;
      ATOLL_MUST(cudaMemGetInfo(&free, &total));
      fail(
          "device cuda: the GPU has no {:.1f} MB left ({:.2f} GB of {:.2f} GB are free); use more ranks, a smaller "
          "model, `training.recompute: layer`, or --device cpu",
          double(bytes) / 1e6, double(free) / 1e9, double(total) / 1e9);
    }
    must(status, "cudaMalloc");
  }
  Allocations::instance().add(data, bytes);
  return {data, bytes};
}

/// Ignores errors: the next call that can report them will.
void release(void* data) {
  if (data == nullptr) return;
  Stream::settle();  // until then, memory in transit is checked as this GPU's
  const Calling calling;
  cudaDeviceSynchronize();
  Allocations::instance().remove(data);
  const auto [was_piece, to_free] = Allocations::instance().give_back(data);
  if (!was_piece) cudaFree(data);
  if (to_free != nullptr) cudaFree(to_free);
}

bool reserve(std::size_t bytes) {
  if (bytes == 0) {
    Stream::settle();
    cudaDeviceSynchronize();
    if (void* const data = Allocations::instance().end_reserve(); data != nullptr) cudaFree(data);
    return true;
  }
  void* data = nullptr;
  const Calling calling;
  const cudaError_t status = cudaMalloc(&data, bytes);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return false;
  }
  must(status, "cudaMalloc");
  Allocations::instance().add_reserve(data, bytes);
  return true;
}

Allocation allocate_pinned(std::size_t bytes) {
  void* data = nullptr;
  Stream::settle();
  if (cudaMallocHost(&data, bytes) == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    throw std::bad_alloc();
  }
  return {data, bytes};
}
void release_pinned(void* data) {
  Stream::settle();
  cudaDeviceSynchronize();
  cudaFreeHost(data);
}

/// Waits for all streams before and after the work, because our streams and the default one don't wait for
/// each other.
template <class F>
void between_waits(F&& work) {
  Stream::settle();
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

}  // namespace

Memory gpu_memory() {
  return {.allocate = allocate,
          .release = release,
          .clear = clear,
          .copy = copy,
          .upload = upload,
          .download = download,
          .is_hosts = false,
          .holds = holds,
          .reserve = reserve,
          .allocate_pinned = allocate_pinned,
          .release_pinned = release_pinned};
}

std::size_t memory_bytes() {
  std::size_t free = 0, total = 0;
  ATOLL_MUST(cudaMemGetInfo(&free, &total));
  return total;
}

/// If memory can't be pinned (too much of it, or the system refuses), only the result says so, not the next
/// launch.
const void* pin(const void* data, std::size_t bytes) {
  void* const given = const_cast<void*>(data);  // only read, whatever CUDA's types say
  Stream::settle();
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
  Stream::settle();
  cudaDeviceSynchronize();
  cudaHostGetDevicePointer(&found, given, 0);
  Allocations::instance().remove(found);
  cudaHostUnregister(given);
}

}  // namespace atl::cuda
