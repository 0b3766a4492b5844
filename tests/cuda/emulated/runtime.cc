// The runtime's calls. Device memory is the far device's (tensor/far_device.h), which the host can't touch.
// As in CUDA, each thread chooses its GPU: its allocations are there, and only that GPU's streams take its
// work.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "streams.h"
#include "tensor/far_device.h"

namespace emulated {
namespace {

using atl::test::FarMemory;

thread_local int current_gpu = 0;
std::atomic<std::int64_t> registered_now{0}, registered_ever{0};
std::atomic<bool> refuses_to_register{false};

/// Of the host's memory, what is pinned: an asynchronous copy reads it when its turn comes, and anything else
/// at once.
class Pinned {
 public:
  static Pinned& instance() {
    static Pinned all;
    return all;
  }
  void add(const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    sizes_[static_cast<const std::byte*>(data)] = bytes;
  }
  void remove(const void* data) {
    const std::lock_guard lock(mutex_);
    sizes_.erase(static_cast<const std::byte*>(data));
  }
  bool holds(const void* data) {
    const std::lock_guard lock(mutex_);
    auto behind = sizes_.upper_bound(static_cast<const std::byte*>(data));
    return behind != sizes_.begin() && data < std::prev(behind)->first + std::prev(behind)->second;
  }

 private:
  std::mutex mutex_;
  std::map<const std::byte*, std::size_t> sizes_;
};

/// On which GPU each piece of the device's memory lies.
struct Owners {
  static Owners& instance() {
    static Owners all;
    return all;
  }
  struct Piece {
    std::size_t bytes;
    int gpu;
  };
  std::mutex mutex;
  std::map<const void*, Piece> pieces;
};

/// Where the host reads and writes it; what isn't the device's is taken as it is.
template <class T>
T* near(T* data) {
  return FarMemory::instance().holds(data, 1) ? FarMemory::instance().near(data) : data;
}

/// Whether the operands of a copy lie where its kind says.
bool fits(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = FarMemory::instance().holds(to, bytes),
             from_device = FarMemory::instance().holds(from, bytes);
  return to_device == (kind != cudaMemcpyDeviceToHost) && from_device == (kind != cudaMemcpyHostToDevice);
}

/// An access to memory that the host can't touch, before it is repeated.
void end_at_far_memory(int signal, siginfo_t* info, void*) {
  if (FarMemory::instance().holds(info->si_addr, 0))
    end("a kernel is given another GPU's memory and uses it (or host code uses a GPU's)");
  std::signal(signal, SIG_DFL);
}

/// What looks like an address on another GPU may be padding that holds an old one by chance. So it is left as
/// it is, and a kernel that uses it ends the program.
void watch_far_memory() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action {};
    action.sa_sigaction = end_at_far_memory;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
  });
}

}  // namespace

/// Device memory is given out where the lower half of an address is from here on. Words that mix a small
/// number, or a float above −2, with half an address left in padding are then not taken for addresses.
constexpr std::uint64_t kLowest = 0xC0000000, kHalf = std::uint64_t(1) << 32;

void bring_near(void* argument, std::size_t bytes) {
  auto* const at = static_cast<std::byte*>(argument);
  for (std::size_t i = 0; i + sizeof(void*) <= bytes; i += sizeof(void*)) {
    void* word = nullptr;
    std::memcpy(&word, at + i, sizeof word);
    if (reinterpret_cast<std::uint64_t>(word) % kHalf < kLowest || !FarMemory::instance().holds(word, 0))
      continue;
    if (const int gpu = gpu_of(word); gpu >= 0 && gpu != current_gpu) {
      watch_far_memory();
      continue;
    }
    word = FarMemory::instance().near(word);
    std::memcpy(at + i, &word, sizeof word);
  }
}

/// An address for so many bytes.
void* device_memory(std::size_t bytes) {
  const std::lock_guard lock(Owners::instance().mutex);
  const std::uint64_t low = reinterpret_cast<std::uint64_t>(FarMemory::instance().next()) % kHalf;
  if (low < kLowest) {
    FarMemory::instance().skip(kLowest - low);
  } else if (low + bytes + 256 > kHalf) {
    FarMemory::instance().skip(kHalf - low + kLowest);
  }
  void* const data = FarMemory::instance().allocate(bytes).data;
  Owners::instance().pieces[data] = {bytes, current_gpu};
  return data;
}

/// What of a piece lies from there on, and whose it is.
Owners::Piece piece_from(const void* data) {
  if (!FarMemory::instance().holds(data, 0)) return {0, -1};
  const std::lock_guard lock(Owners::instance().mutex);
  const auto behind = Owners::instance().pieces.upper_bound(data);
  if (behind == Owners::instance().pieces.begin()) return {0, -1};
  const auto& [begin, piece] = *std::prev(behind);
  const auto before = std::size_t(static_cast<const std::byte*>(data) - static_cast<const std::byte*>(begin));
  return before < piece.bytes ? Owners::Piece{piece.bytes - before, piece.gpu} : Owners::Piece{0, -1};
}
int gpu_of(const void* data) {
  return piece_from(data).gpu;
}
std::size_t bytes_from(const void* data) {
  return piece_from(data).bytes;
}
int this_threads_gpu() {
  return current_gpu;
}
bool is_this_threads(cudaStream_t stream) {
  return stream != nullptr && stream->gpu() == current_gpu;
}
void end(const char* what) {
  std::fprintf(stderr, "emulated GPU: %s\n", what);
  std::abort();
}

Registered registered() {
  return {registered_now, registered_ever};
}
void refuse_to_register(bool refuses) {
  refuses_to_register = refuses;
}

}  // namespace emulated

using atl::test::FarMemory;

const char* cudaGetErrorString(cudaError_t error) {
  return error == cudaSuccess ? "no error" : "an error of the emulated GPU";
}
cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= emulated::gpus()) return cudaErrorInvalidValue;
  emulated::current_gpu = device;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = emulated::current_gpu;
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  emulated::count_wait();
  for (emulated::Stream* each : emulated::Stream::of_this_thread()) each->run(each->given());
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** data, std::size_t bytes) {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  emulated::count_allocation(bytes);
  if (bytes > emulated::kMemory) return cudaErrorMemoryAllocation;
  try {
    *data = emulated::device_memory(bytes);
  } catch (const std::bad_alloc&) {
    return cudaErrorMemoryAllocation;
  }
  return cudaSuccess;
}
cudaError_t cudaFree(void* data) {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  emulated::count_free();
  cudaDeviceSynchronize();
  FarMemory::instance().release(data);
  const std::lock_guard lock(emulated::Owners::instance().mutex);
  emulated::Owners::instance().pieces.erase(data);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** data, std::size_t bytes) {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  *data = std::malloc(bytes);
  emulated::Pinned::instance().add(*data, bytes);
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* data) {
  emulated::Pinned::instance().remove(data);
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned) {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  if (emulated::refuses_to_register) return cudaErrorMemoryAllocation;
  if (emulated::Pinned::instance().holds(data)) return cudaErrorInvalidValue;
  emulated::Pinned::instance().add(data, bytes);
  ++emulated::registered_now, ++emulated::registered_ever;
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* data) {
  if (!emulated::Pinned::instance().holds(data)) return cudaErrorInvalidValue;
  emulated::Pinned::instance().remove(data);
  --emulated::registered_now;
  return cudaSuccess;
}
cudaError_t cudaHostGetDevicePointer(void** found, void* data, unsigned) {
  if (!emulated::Pinned::instance().holds(data)) return cudaErrorInvalidValue;
  *found = data;
  return cudaSuccess;
}
cudaError_t cudaMemset(void* data, int value, std::size_t bytes) {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  cudaDeviceSynchronize();
  if (!FarMemory::instance().holds(data, bytes)) return cudaErrorInvalidValue;
  std::memset(FarMemory::instance().near(data), value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream) {
  if (!FarMemory::instance().holds(data, bytes)) return cudaErrorInvalidValue;
  emulated::give(stream, [=] { std::memset(FarMemory::instance().near(data), value, bytes); });
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (emulated::unsafe_in_capture()) return cudaErrorStreamCaptureUnsupported;
  emulated::count_wait();
  if (!emulated::fits(to, from, bytes, kind)) return cudaErrorInvalidValue;
  if (kind != cudaMemcpyDeviceToDevice) emulated::count_copy(bytes);
  std::memcpy(emulated::near(to), emulated::near(from), bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (!emulated::fits(to, from, bytes, kind)) return cudaErrorInvalidValue;
  const void* const hosts = kind == cudaMemcpyHostToDevice ? from : to;
  const bool pinned = kind == cudaMemcpyDeviceToDevice || emulated::Pinned::instance().holds(hosts);
  if (!pinned) emulated::count_wait();
  if (kind != cudaMemcpyDeviceToDevice) emulated::count_copy(bytes);
  if (kind == cudaMemcpyHostToDevice && !pinned) {
    const auto* const bytes_now = static_cast<const std::byte*>(from);
    emulated::give(stream, [to, taken = std::vector<std::byte>(bytes_now, bytes_now + bytes)] {
      std::memcpy(emulated::near(to), taken.data(), taken.size());
    });
  } else {
    emulated::give(stream, [=] { std::memcpy(emulated::near(to), emulated::near(from), bytes); });
  }
  return cudaSuccess;
}
