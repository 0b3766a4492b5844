// A device other than the host, as the engine sees it: its memory, and its own version of every kernel. A
// build has at most one (tensor/cuda); tests install one of their own instead. The maker of a Context
// supplies the device's stream.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "tensor/device_links.h"
#include "tensor/kernel_table.h"
#include "tensor/memory.h"

namespace atl {

/// An opened device, which a rank has for itself or shares with other ranks of its machine.
struct OpenDevice {
  std::unique_ptr<DeviceStream> stream;  // for the rank's compute thread
  std::string name;                      // as the manufacturer calls it
  std::size_t bytes = 0;                 // of memory, free or not
};

struct Backend {
  Memory memory;
  KernelTable kernels;
  /// Opens a device for the calling thread, which belongs to rank number `rank_here` of this machine. Throws
  /// Error, which says what is missing and what to do.
  OpenDevice (*open)(int rank_here) = nullptr;
  const LinkMaker* links = nullptr;  // null: ranks reach each other only through the host
  /// Bytes of memory of the calling thread's device, free or not; null: unbounded.
  std::size_t (*bytes)() = nullptr;
  /// Lets kernels read `bytes` bytes of the host's memory, which stays where it is, until unpin(data).
  /// Returns the address for kernels; null: this memory can't be read. Without the function no memory can.
  const void* (*pin)(const void* data, std::size_t bytes) = nullptr;
  void (*unpin)(const void* data) = nullptr;
  /// A number that changes whenever a call into the device's library ends; 0 while no thread of this process
  /// is in one. A call that hangs leaves it unchanged. Any thread may ask, and gets an answer even then.
  /// Null: the device can't tell.
  std::uint64_t (*call)() = nullptr;
};

/// Installs the backend, which outlives everything in its memory; null removes it. Call before the first use
/// of Device::kCuda; not thread-safe.
void install_backend(const Backend* backend);
bool has_backend();
/// Throws Error if there is none.
const Backend& backend();

}  // namespace atl
