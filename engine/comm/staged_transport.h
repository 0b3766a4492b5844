// Ranks on GPUs over a transport that knows only the host's memory: what leaves a device is copied to the host's first, and what arrives
// is copied to the device before it counts as received. The progress thread does both, on a stream of its own, so that the compute
// thread's kernels go on.
#pragma once

#include <functional>
#include <memory>

#include "comm/transport.h"
#include "tensor/device_stream.h"

namespace atl {

/// `make_stream` is called by the progress thread, in open(). Messages may lie in the host's memory or the backend's.
std::unique_ptr<Transport> make_staged_transport(std::unique_ptr<Transport> host,
                                                 std::function<std::unique_ptr<DeviceStream>()> make_stream);

}  // namespace atl
