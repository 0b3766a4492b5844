// What a device other than the host is to the engine: its memory, and its twin of every kernel. A build has
// one at most (tensor/cuda); tests install one of their own in its place. Whoever makes a Context brings the
// device's stream.
#pragma once

#include <memory>
#include <string>

#include "tensor/device_links.h"
#include "tensor/kernel_table.h"
#include "tensor/memory.h"

namespace atl {

/// A device that a rank has for itself, or shares with others of its machine.
struct OpenDevice {
  std::unique_ptr<DeviceStream> stream;  // of the rank's compute thread
  std::string name;                      // as its maker calls it
  std::size_t bytes = 0;                 // of its memory, free or not
};

struct Backend {
  Memory memory;
  KernelTable kernels;
  /// The device of this machine's rank number `rank_here`, for the calling thread. Throws Error that says
  /// what is missing and what to do.
  OpenDevice (*open)(int rank_here) = nullptr;
  const LinkMaker* links = nullptr;  // null: ranks reach each other by way of the host alone
  /// Of the memory of the calling thread's device, free or not; null: it has no bounds.
  std::size_t (*bytes)() = nullptr;
  /// Lets kernels read so many bytes of the host's memory, which stays, until unpin(data). Where they find
  /// them; null: they can't. No such function: none can.
  const void* (*pin)(const void* data, std::size_t bytes) = nullptr;
  void (*unpin)(const void* data) = nullptr;
};

/// `backend` outlives all that lies in its memory. Before the first use of Device::kCuda; not thread-safe.
/// Null takes it away.
void install_backend(const Backend* backend);
bool has_backend();
/// Throws Error where there is none.
const Backend& backend();

}  // namespace atl
