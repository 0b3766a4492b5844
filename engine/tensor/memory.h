// Memory by device: the one place that matrices and workspaces get theirs from.
#pragma once

#include <cstddef>

namespace atl {

enum class Device { kCpu, kCuda };

/// Memory that was asked for; `bytes` may be more than was asked, in whole cache lines or pages.
struct Allocation {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A device's memory. Addresses are 64-byte aligned, contents undefined.
struct Memory {
  Allocation (*allocate)(std::size_t bytes);  // throws std::bad_alloc
  void (*release)(void* data);
  void (*clear)(void* data, std::size_t bytes);                 // to zero bytes
  void (*copy)(void* to, const void* from, std::size_t bytes);  // both on the device
};

/// tensor/cpu/memory.cc
const Memory& host_memory();

/// Throws Error where this build has no code for `device`.
const Memory& memory_of(Device device);

/// What a std::unique_ptr to a device's memory ends with.
struct ReleaseMemory {
  Device device = Device::kCpu;
  void operator()(void* data) const { memory_of(device).release(data); }
};

}  // namespace atl
