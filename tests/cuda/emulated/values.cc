// Streams that wait for a number in pinned memory, which a thread of the host changes.
#include <cuda.h>

#include <algorithm>
#include <atomic>
#include <string>

#include "streams.h"

namespace emulated {
namespace {

std::atomic<bool> hidden{false};
thread_local std::int64_t waits_given = 0;

}  // namespace

void Stream::give_wait(std::function<bool()> passed) {
  const std::lock_guard lock(mutex());
  awaited_.push_back({given(), passed});
  give(std::move(passed));
}

bool Stream::awaits() {
  const std::lock_guard lock(mutex());
  std::erase_if(awaited_, [&](const Awaited& each) { return each.position < done_; });
  return std::ranges::any_of(awaited_, [](const Awaited& each) { return !each.passed(); });
}

std::int64_t value_waits() {
  return waits_given;
}
void hide_value_waits(bool hides) {
  hidden = hides;
}

void check_no_value_awaited(const char* call) {
  for (Stream* each : Stream::of_this_thread())
    if (each->awaits())
      end((std::string(call) +
           " while a stream waits for a value: it may wait for the stream, and hold up whoever would change that")
              .c_str());
}

}  // namespace emulated

CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  auto* const number = reinterpret_cast<std::uint32_t*>(address);
  if (flags != CU_STREAM_WAIT_VALUE_GEQ || address % sizeof *number != 0 || !emulated::is_pinned(number))
    return CUDA_ERROR_INVALID_VALUE;
  if (!emulated::is_this_threads(stream)) return CUDA_ERROR_INVALID_VALUE;
  if (emulated::is_captured(stream)) emulated::end("a wait for a value within a captured graph isn't played");
  ++emulated::waits_given;
  stream->give_wait([number, value] {
    return std::int32_t(std::atomic_ref(*number).load(std::memory_order_acquire) - value) >= 0;
  });
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned /*version*/,
                                             unsigned long long /*flags*/,
                                             cudaDriverEntryPointQueryResult* result) {
  const bool found = !emulated::hidden && std::string(name) == "cuStreamWaitValue32";
  *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  if (found) *function = reinterpret_cast<void*>(&cuStreamWaitValue32);
  return cudaSuccess;
}
