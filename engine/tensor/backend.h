// What a device other than the host is to the engine: its memory, its streams, and its twin of every kernel. A build has one at most
// (tensor/cuda); tests install one of their own in its place.
#pragma once

#include <memory>

#include "tensor/device_stream.h"
#include "tensor/kernel_table.h"

namespace atl {

struct Backend {
  const char* name;
  Memory memory;
  KernelTable kernels;
  std::unique_ptr<DeviceStream> (*new_stream)();
};

/// Null: this build, or process, has none.
const Backend* installed_backend();
/// `backend` outlives all that lies in its memory. Before the first use of Device::kCuda; not thread-safe. Null takes it away.
void install_backend(const Backend* backend);
/// Throws Error where there is none.
const Backend& backend();

}  // namespace atl
