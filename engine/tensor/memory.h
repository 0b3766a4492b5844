// Memory by device. Matrices, buffers and workspaces allocate only here.
#pragma once

#include <cstddef>

namespace atl {

enum class Device {
  kCpu,
  kCuda,
  kDry,  // for a dry run: as many addresses as the host's memory would have, without memory behind them
};

/// Allocated memory; `bytes` may be more than was asked for, in whole cache lines or pages.
struct Allocation {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A device's memory. Addresses are 64-byte aligned, contents undefined. Release and copies wait for all work
/// given to the device before.
struct Memory {
  Allocation (*allocate)(std::size_t bytes);  // throws std::bad_alloc
  void (*release)(void* data);
  void (*clear)(void* data, std::size_t bytes);                     // to zero bytes
  void (*copy)(void* to, const void* from, std::size_t bytes);      // both on the device
  void (*upload)(void* to, const void* from, std::size_t bytes);    // from the host
  void (*download)(void* to, const void* from, std::size_t bytes);  // to the host
  /// Whether the host may access this memory directly, and kernels may access the host's.
  bool is_hosts = true;
  /// Whether these bytes are in this memory; null: unknown.
  bool (*holds)(const void* data, std::size_t bytes) = nullptr;
  /// Reserves `bytes` at once, which allocate() then gives out piece by piece. False: there isn't that much,
  /// and each piece is allocated by itself. With 0, nothing more is taken from the thread's reserve, which is
  /// freed with its last piece. Null: reserving gains nothing.
  bool (*reserve)(std::size_t bytes) = nullptr;
  /// Memory of the host that the device's streams read and write when they come to it. Null: any host memory
  /// will do.
  Allocation (*allocate_pinned)(std::size_t bytes) = nullptr;  // throws std::bad_alloc
  void (*release_pinned)(void* data) = nullptr;
};

/// Defined in tensor/cpu/memory.cc.
const Memory& host_memory();
/// The size that the host allocates for a request, and its unit.
struct HostBlock {
  std::size_t bytes, unit;
};
HostBlock host_block(std::size_t wanted);

/// Defined in tensor/memory.cc. A page comes into being when it is written to, and reads as zeros before;
/// clearing and copying do nothing. allocate() throws Error if the process can have no more addresses.
const Memory& dry_memory();

/// Throws Error if this build has no code for `device`.
const Memory& memory_of(Device device);

/// Deleter for a std::unique_ptr to a device's memory.
struct ReleaseMemory {
  Device device = Device::kCpu;
  void operator()(void* data) const { memory_of(device).release(data); }
};

}  // namespace atl
