// The header through which kernels use CUDA C++: launches, a block's shared memory, exchanges between lanes
// of a warp. Kernels are written against it, so that the tests' emulated GPU (tests/cuda) can replace it.
#pragma once

#include <utility>

#include "tensor/cuda/library_call.h"
#include "tensor/cuda/rows.h"

namespace atl::cuda {

inline constexpr int kWarp = 32;      // lanes
inline constexpr int kThreads = 256;  // per block, unless a kernel needs another number

template <class... Formal>
void launch_now(cudaStream_t stream, const Grid& grid, void (*kernel)(Formal...),
                const Formal&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(grid.blocks);
  config.blockDim = dim3(grid.threads);
  config.dynamicSmemBytes = grid.shared;
  config.stream = stream;
  const Calling calling;
  must(cudaLaunchKernelEx(&config, kernel, Formal(arguments)...), "launch of a kernel");
}

/// Runs a recorded launch (recording.h).
template <class... Formal>
struct RecordedKernel {
  static void run(const Call& call, void* const* arguments, const Target& on) {
    run_with(call, arguments, on, std::index_sequence_for<Formal...>());
  }
  template <std::size_t... I>
  static void run_with(const Call& call, void* const* arguments, const Target& on,
                       std::index_sequence<I...>) {
    auto* const kernel = reinterpret_cast<void (*)(Formal...)>(const_cast<void*>(call.function));
    launch_now<Formal...>(on.stream, call.grid, kernel, *static_cast<const Formal*>(arguments[I])...);
  }
};

/// Launches `blocks` blocks of the kernel, each with `threads` threads and `shared` bytes of shared memory,
/// in the order of ctx's stream.
template <class... Formal, class... Given>
void launch(const Context& ctx, Index blocks, int threads, std::size_t shared, void (*kernel)(Formal...),
            const Given&... given) {
  if (blocks == 0) return;
  ATOLL_CHECK(blocks < Index(1) << 31, "{} blocks", blocks);
  const Stream& stream = stream_of(ctx);
  const Grid grid{unsigned(blocks), unsigned(threads), shared};
  if (Rounds* const rounds = stream.rounds(); rounds != nullptr && rounds->records())
    return rounds->give({&RecordedKernel<Formal...>::run, reinterpret_cast<const void*>(kernel), true, grid},
                        Formal(given)...);
  launch_now<Formal...>(stream.stream(), grid, kernel, Formal(given)...);
}

/// Memory to fill with zeros.
struct Cleared {
  void* data;
  std::size_t bytes;
};
inline void clear_now(const Target& on, const Cleared& what) {
  ATOLL_MUST(cudaMemsetAsync(what.data, 0, what.bytes, on.stream));
}

inline Index blocks_for(Index items, Index of_block) {
  return (items + of_block - 1) / of_block;
}

/// The block's shared memory; every thread gets the same address.
template <class T>
__device__ T* shared_memory() {
#ifdef __CUDACC__
  extern __shared__ __align__(16) unsigned char bytes[];
  return reinterpret_cast<T*>(bytes);
#else
  return static_cast<T*>(emulated::shared_memory());
#endif
}

/// A group of adjacent lanes of a warp, a power of two, that work on one row.
struct Lanes {
  int count;      // 1 … 32
  int lane;       // this thread's place among them
  int first;      // the group's first lane in the warp
  unsigned mask;  // the group's lanes in the warp

  /// A group of 2^log lanes. Shifts replace divisions, which would take longer than the work that is divided.
  __device__ explicit Lanes(int log) : count(1 << log), lane(int(threadIdx.x) & (count - 1)) {
    first = int(threadIdx.x) % kWarp & ~(count - 1);
    mask = count == kWarp ? ~0u : ((1u << count) - 1) << first;
  }

  /// The value of the group's lane number `which`.
  template <class T>
  __device__ T from(int which, T value) const {
    return __shfl_sync(mask, value, first + which);
  }
  template <class T>
  __device__ T sum(T value) const {
    for (int distance = count / 2; distance > 0; distance /= 2)
      value += __shfl_xor_sync(mask, value, distance);
    return value;
  }
  template <class T>
  __device__ T max(T value) const {
    for (int distance = count / 2; distance > 0; distance /= 2) {
      const T other = __shfl_xor_sync(mask, value, distance);
      value = other > value ? other : value;
    }
    return value;
  }
};

/// The logarithm of the smallest power of two that is at least `wanted`, but at most a warp.
inline int lanes_for(Index wanted) {
  int log = 0;
  while ((1 << log) < kWarp && (1 << log) < wanted) ++log;
  return log;
}

/// The sum of a block's values, in a fixed order, on its thread 0. `room`: kThreads / kWarp values of shared
/// memory.
template <class T>
__device__ T sum_of_block(T value, T* room) {
  const T mine = Lanes(5).sum(value);
  if (threadIdx.x % kWarp == 0) room[threadIdx.x / kWarp] = mine;
  __syncthreads();
  T total = 0;
  if (threadIdx.x == 0)
    for (unsigned i = 0; i < blockDim.x / kWarp; ++i) total += room[i];
  return total;
}

}  // namespace atl::cuda
