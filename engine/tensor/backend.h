// What a device other than the host is to the engine: its memory, and its twin of every kernel. A build has one at most (tensor/cuda);
// tests install one of their own in its place. Whoever makes a Context brings the device's stream.
#pragma once

#include "tensor/kernel_table.h"
#include "tensor/memory.h"

namespace atl {

struct Backend {
  Memory memory;
  KernelTable kernels;
};

/// `backend` outlives all that lies in its memory. Before the first use of Device::kCuda; not thread-safe. Null takes it away.
void install_backend(const Backend* backend);
/// Throws Error where there is none.
const Backend& backend();

}  // namespace atl
