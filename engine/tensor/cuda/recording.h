// Calls that a stream is given, with their arguments, in memory that is used again and again: what a CUDA
// graph is made of, and what the same work is compared with when it comes again (rounds.h).
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "tensor/cuda/status.h"

namespace atl::cuda {

struct Grid {
  unsigned blocks = 0, threads = 0;
  std::size_t shared = 0;  // bytes
  bool operator==(const Grid&) const = default;
};

/// What calls are done on.
struct Target {
  cudaStream_t stream;
  cublasHandle_t cublas;
};

/// What is the same of a call each time it comes, if shapes are.
struct Call {
  void (*run)(const Call& call, void* const* arguments, const Target& on);
  const void* function;  // a kernel, or what calls a library
  bool is_kernel;
  Grid grid;  // a kernel's
  bool operator==(const Call&) const = default;
};

class Recording {
 public:
  /// A call's arguments are copied as they lie in memory.
  template <class... Argument>
  void add(const Call& call, const Argument&... arguments) {
    calls_.push_back({call, bytes_.size(), 0, places_.size()});
    (put(arguments), ...);
    calls_.back().bytes = bytes_.size() - calls_.back().at;
  }
  /// The memory stays.
  void clear() { calls_.clear(), places_.clear(), bytes_.clear(); }

  std::size_t size() const { return calls_.size(); }
  const Call& call(std::size_t i) const { return calls_[i].call; }
  bool same_arguments(std::size_t i, const Recording& other) const;
  /// Where each of a call's arguments lies; until the next call of this.
  void* const* arguments(std::size_t i);
  void run(std::size_t i, const Target& on) { calls_[i].call.run(calls_[i].call, arguments(i), on); }

 private:
  struct Recorded {
    Call call;
    std::size_t at, bytes;    // of the arguments, in bytes_
    std::size_t first_place;  // in places_
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
  std::vector<std::size_t> places_;  // of arguments, in bytes_, call by call
  std::vector<std::byte> bytes_;
  std::vector<void*> pointers_;  // what arguments() gives out
};

/// Whether both have the same calls, with whatever arguments.
bool same_calls(const Recording& a, const Recording& b);

}  // namespace atl::cuda
