// Calls given to a stream, with their arguments, in memory that is reused. CUDA graphs are made from them,
// and the same work is compared with them when it is repeated (rounds.h).
#pragma once

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace atl::cuda {

// Turns failures of calls of CUDA's libraries into errors that name the call. It also numbers the calls, so
// that another thread sees if one never returns.

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

/// After a kernel has failed, every call fails, so the name of the failing call says nothing. Says then how
/// to find the kernel; "" for other errors.
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

// Recorded calls.

struct Grid {
  unsigned blocks = 0, threads = 0;
  std::size_t shared = 0;  // bytes
  bool operator==(const Grid&) const = default;
};

/// Where calls run.
struct Target {
  cudaStream_t stream;
  cublasHandle_t cublas;
};

/// The part of a call that stays the same when the call is repeated with the same shapes.
struct Call {
  void (*run)(const Call& call, void* const* arguments, const Target& on);
  const void* function;  // a kernel, or a function that calls a library
  bool is_kernel;
  Grid grid;  // a kernel's
  bool operator==(const Call&) const = default;
};

class Recording {
 public:
  /// Copies a call's arguments byte by byte.
  template <class... Argument>
  void add(const Call& call, const Argument&... arguments) {
    calls_.push_back({call, bytes_.size(), 0, places_.size()});
    (put(arguments), ...);
    calls_.back().bytes = bytes_.size() - calls_.back().at;
  }
  /// Removes all calls; the memory stays.
  void clear() { calls_.clear(), places_.clear(), bytes_.clear(); }

  std::size_t size() const { return calls_.size(); }
  const Call& call(std::size_t i) const { return calls_[i].call; }
  bool same_arguments(std::size_t i, const Recording& other) const;
  /// Addresses of a call's arguments; valid until the next call of this function.
  void* const* arguments(std::size_t i);
  void run(std::size_t i, const Target& on) { calls_[i].call.run(calls_[i].call, arguments(i), on); }

 private:
  struct Recorded {
    Call call;
    std::size_t at, bytes;    // place of the arguments in bytes_
    std::size_t first_place;  // place in places_
  };

  template <class T>
  void put(const T& argument) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    const auto bytes = std::as_bytes(std::span(&argument, 1));
    bytes_.resize((bytes_.size() + alignof(T) - 1) / alignof(T) * alignof(T));
    places_.push_back(bytes_.size());
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  std::vector<Recorded> calls_;
  std::vector<std::size_t> places_;  // places of arguments in bytes_, call by call
  std::vector<std::byte> bytes_;
  std::vector<void*> pointers_;  // results of arguments()
};

/// Whether both have the same calls, with any arguments.
bool same_calls(const Recording& a, const Recording& b);

inline bool Recording::same_arguments(std::size_t i, const Recording& other) const {
  const Recorded &mine = calls_[i], &theirs = other.calls_[i];
  return mine.bytes == theirs.bytes &&
         std::memcmp(bytes_.data() + mine.at, other.bytes_.data() + theirs.at, mine.bytes) == 0;
}

inline void* const* Recording::arguments(std::size_t i) {
  const std::size_t end = i + 1 < calls_.size() ? calls_[i + 1].first_place : places_.size();
  pointers_.clear();
  for (std::size_t place = calls_[i].first_place; place < end; ++place)
    pointers_.push_back(bytes_.data() + places_[place]);
  return pointers_.data();
}

inline bool same_calls(const Recording& a, const Recording& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (a.call(i) != b.call(i)) return false;
  return true;
}

}  // namespace atl::cuda

#define ATOLL_MUST(call) ::atl::cuda::must((::atl::cuda::Calling(), (call)), #call)
