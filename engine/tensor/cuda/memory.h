// The GPUs' memory, as the engine asks for it (tensor/memory.h).
#pragma once

#include <cstddef>

#include "tensor/memory.h"

namespace atl::cuda {

/// On the calling thread's GPU, each of them.
Memory gpu_memory();

/// Of the calling thread's GPU, free or not.
std::size_t memory_bytes();
const void* pin(const void* data, std::size_t bytes);
void unpin(const void* data);

}  // namespace atl::cuda
