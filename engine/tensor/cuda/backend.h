// The GPU as the engine's other device (tensor/backend.h): its kernels, its memory, the links between ranks'
// GPUs, and the opening of a rank's GPU.
#pragma once

#include <cstddef>

#include "tensor/backend.h"

namespace atl::cuda {

/// Defined in table.cc.
const KernelTable& kernels();

/// For install_backend(). The call doesn't touch the driver.
const Backend& backend();

/// Links between ranks' GPUs, for Backend::links: NCCL's communicators (links.cc). The library is looked up
/// at the first request for an offer.
const LinkMaker& links();

/// The GPUs' memory (memory.cc). All its functions act on the calling thread's GPU.
Memory gpu_memory();

/// Bytes of the calling thread's GPU, free or not.
std::size_t memory_bytes();
const void* pin(const void* data, std::size_t bytes);
void unpin(const void* data);

}  // namespace atl::cuda
