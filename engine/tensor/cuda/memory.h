// The GPUs' memory, with the engine's interface (tensor/memory.h).
#pragma once

#include <cstddef>

#include "tensor/memory.h"

namespace atl::cuda {

/// All its functions act on the calling thread's GPU.
Memory gpu_memory();

/// Bytes of the calling thread's GPU, free or not.
std::size_t memory_bytes();
const void* pin(const void* data, std::size_t bytes);
void unpin(const void* data);

}  // namespace atl::cuda
