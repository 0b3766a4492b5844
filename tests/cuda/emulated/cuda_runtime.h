// Replaces CUDA's header of this name: the part of CUDA C++ and its runtime that Atoll uses, emulated on the
// host, so that kernels and their callers are tested without a GPU. CONTRIBUTING.md ("Kernels for GPUs") says
// what the emulation can't show.
#pragma once

#include <math.h>  // its functions in the global namespace, for float too

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __launch_bounds__(...)
#define CUDART_VERSION 13000

struct uint3 {
  unsigned x = 0, y = 0, z = 0;
};
struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}  // NOLINT: as CUDA's
};

// ---- the runtime's interface -----------------------------------------------------------------------------

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorIllegalState = 401,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorStreamCaptureUnsupported = 900,
  cudaErrorStreamCaptureInvalidated = 901,
  cudaErrorStreamCaptureIsolation = 905,
  cudaErrorStreamCaptureWrongThread = 908,
  cudaErrorGraphExecUpdateFailure = 910,
};
const char* cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetLastError();

namespace emulated {
class Stream;
struct Event;
struct Node;
struct Graph;
struct GraphExec;
}  // namespace emulated
using cudaStream_t = emulated::Stream*;
using cudaEvent_t = emulated::Event*;
using cudaGraphNode_t = emulated::Node*;
using cudaGraph_t = emulated::Graph*;
using cudaGraphExec_t = emulated::GraphExec*;

struct cudaLaunchAttribute;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  int major, minor;
  std::size_t totalGlobalMem;
  int l2CacheSize;
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2, cudaMemcpyDeviceToDevice = 3 };
inline constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMallocHost(void** data, std::size_t bytes);
cudaError_t cudaFreeHost(void* data);
constexpr unsigned cudaHostRegisterMapped = 2;
cudaError_t cudaHostRegister(void* data, std::size_t bytes, unsigned flags);
cudaError_t cudaHostUnregister(void* data);
cudaError_t cudaHostGetDevicePointer(void** found, void* data, unsigned flags);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaMemset(void* data, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags = 0);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventSynchronize(cudaEvent_t event);

struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaGraphEdgeData;
enum cudaStreamCaptureMode {
  cudaStreamCaptureModeGlobal = 0,
  cudaStreamCaptureModeThreadLocal = 1,
  cudaStreamCaptureModeRelaxed = 2,
};
enum cudaStreamCaptureStatus {
  cudaStreamCaptureStatusNone = 0,
  cudaStreamCaptureStatusActive = 1,
  cudaStreamCaptureStatusInvalidated = 2,
};
enum cudaGraphExecUpdateResult {
  cudaGraphExecUpdateSuccess = 0,
  cudaGraphExecUpdateErrorTopologyChanged = 2,
  cudaGraphExecUpdateErrorNodeTypeChanged = 3,
};
struct cudaGraphExecUpdateResultInfo {
  cudaGraphExecUpdateResult result;
  cudaGraphNode_t errorNode, errorFromNode;
};

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     std::size_t* count);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters);
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result);
cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);

// ---- what a kernel sees ----------------------------------------------------------------------------------

extern thread_local uint3 threadIdx, blockIdx;
extern thread_local dim3 blockDim, gridDim;

namespace emulated {

/// Appends work to a stream, or to the graph that it is captured in.
void give(cudaStream_t stream, std::function<void()> work);
/// Makes work of a kernel and the present values of its arguments.
using Binder = std::function<void()> (*)(const cudaLaunchConfig_t& config, const void* function,
                                         void* const* arguments);
cudaError_t launch(const cudaLaunchConfig_t& config, const void* function, Binder bind,
                   void* const* arguments);
/// Runs the body as each thread of each block, one block after the other; called by a stream's work.
void run_grid(const cudaLaunchConfig_t& config, const std::function<void()>& body);
/// Whether the stream is on the calling thread's GPU, as it must be for the thread to give it work.
bool is_this_threads(cudaStream_t stream);
/// Turns values that look like addresses of this thread's GPU into ones at which the host can read the same
/// bytes. Padding may be turned, too.
void bring_near(void* argument, std::size_t bytes);
template <class T>
void bring_near(T& argument) {
  bring_near(&argument, sizeof argument);
}

void* shared_memory();
/// Waits for all threads of the block; returns whether any brought `value`.
bool barrier(bool value);
unsigned own_lane();
/// Returns in `other` what lane `source` brought, once all lanes of the mask are here. At most 16 bytes.
void exchange(unsigned mask, unsigned source, const void* value, void* other, std::size_t bytes);

}  // namespace emulated

namespace emulated {

template <class... Formal>
struct Kernel {
  static std::function<void()> bind(const cudaLaunchConfig_t& config, const void* function,
                                    void* const* arguments) {
    return bind_each(config, function, arguments, std::index_sequence_for<Formal...>());
  }
  template <std::size_t... I>
  static std::function<void()> bind_each(const cudaLaunchConfig_t& config, const void* function,
                                         void* const* arguments, std::index_sequence<I...>) {
    std::tuple<Formal...> own{*static_cast<const Formal*>(arguments[I])...};
    (bring_near(std::get<I>(own)), ...);
    auto* const kernel = reinterpret_cast<void (*)(Formal...)>(const_cast<void*>(function));
    return [config, kernel, own] {
      run_grid(config, [&] { std::apply([&](const auto&... each) { kernel(each...); }, own); });
    };
  }
};

}  // namespace emulated

template <class... Formal, class... Given>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Formal...),
                               Given&&... given) {
  static_assert((std::is_trivially_copyable_v<Formal> && ...));
  std::tuple<Formal...> arguments{Formal(given)...};
  return std::apply(
      [&](auto&... each) {
        void* const pointers[] = {&each..., nullptr};
        return emulated::launch(*config, reinterpret_cast<const void*>(kernel),
                                &emulated::Kernel<Formal...>::bind, pointers);
      },
      arguments);
}

inline void __syncthreads() {
  emulated::barrier(false);
}
inline int __syncthreads_or(int value) {
  return emulated::barrier(value != 0) ? 1 : 0;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance) {
  T other;
  emulated::exchange(mask, emulated::own_lane() ^ unsigned(distance), &value, &other, sizeof value);
  return other;
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source) {
  T other;
  emulated::exchange(mask, unsigned(source), &value, &other, sizeof value);
  return other;
}
inline int __ffs(int word) {
  return __builtin_ffs(word);
}
/// Needs no atomic instruction: a block's threads take turns, and blocks follow each other.
template <class T>
T atomicAdd(T* to, T by) {
  static_assert(std::is_integral_v<T>, "the order of other sums would differ from run to run");
  const T before = *to;
  *to = T(before + by);
  return before;
}
