// The GPU as the engine's other device (tensor/backend.h): its memory, its kernels, and the opening of a
// rank's GPU.
#pragma once

#include "tensor/backend.h"

namespace atl::cuda {

/// Defined in table.cc.
const KernelTable& kernels();

/// For install_backend(). The call doesn't touch the driver.
const Backend& backend();

}  // namespace atl::cuda
