// Links between ranks' GPUs: NCCL's communicators (tensor/device_links.h).
#pragma once

#include "tensor/device_links.h"

namespace atl::cuda {

/// For Backend::links. The library is looked up at the first request for an offer.
const LinkMaker& links();

}  // namespace atl::cuda
