// Links between ranks' GPUs: NCCL's communicators (tensor/device_links.h).
#pragma once

#include "tensor/device_links.h"

namespace atl::cuda {

/// For Backend::links. Looks for the library when it is first asked for an offer.
const LinkMaker& links();

}  // namespace atl::cuda
