// Memory by device: the one place that matrices, buffers and workspaces get theirs from.
#pragma once

#include <cstddef>

namespace atl {

enum class Device {
  kCpu,
  kCuda,
  kDry,  // of a dry run: addresses without memory behind them, as many as the host's would have
};

/// Memory that was asked for; `bytes` may be more than was asked, in whole cache lines or pages.
struct Allocation {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A device's memory. Addresses are 64-byte aligned, contents undefined. Release and copies come after all
/// that the device was given before: they wait for it.
struct Memory {
  Allocation (*allocate)(std::size_t bytes);  // throws std::bad_alloc
  void (*release)(void* data);
  void (*clear)(void* data, std::size_t bytes);                     // to zero bytes
  void (*copy)(void* to, const void* from, std::size_t bytes);      // both on the device
  void (*upload)(void* to, const void* from, std::size_t bytes);    // from the host
  void (*download)(void* to, const void* from, std::size_t bytes);  // to the host
  /// Whether the host may read and write there itself, and kernels what lies in the host's memory.
  bool is_hosts = true;
  /// Whether so many bytes lie in this memory; null: it can't tell.
  bool (*holds)(const void* data, std::size_t bytes) = nullptr;
  /// Asks for so many bytes at once, which allocate() then gives away piece by piece. False: there isn't so
  /// much, and each piece is asked for by itself. 0: no more is taken of what the thread asked for, which
  /// goes with its last piece. Null: there is nothing to gain.
  bool (*reserve)(std::size_t bytes) = nullptr;
  /// Memory of the host that the device's streams read and write when they come to it. Null: any of it is.
  Allocation (*allocate_pinned)(std::size_t bytes) = nullptr;  // throws std::bad_alloc
  void (*release_pinned)(void* data) = nullptr;
};

/// tensor/cpu/memory.cc
const Memory& host_memory();
/// What the host makes of a wish for so many bytes, and in what units.
struct HostBlock {
  std::size_t bytes, unit;
};
HostBlock host_block(std::size_t wanted);

/// tensor/memory.cc. A page comes to be where it is written to, and reads as zeros before; clearing and
/// copying do nothing. allocate() throws Error where the process can have no more addresses.
const Memory& dry_memory();

/// Throws Error where this build has no code for `device`.
const Memory& memory_of(Device device);

/// What a std::unique_ptr to a device's memory ends with.
struct ReleaseMemory {
  Device device = Device::kCpu;
  void operator()(void* data) const { memory_of(device).release(data); }
};

}  // namespace atl
