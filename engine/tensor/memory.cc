#include "tensor/memory.h"

#include "base/error.h"

namespace atl {

const Memory& memory_of(Device device) {
  if (device != Device::kCpu) fail("device cuda: this build of Atoll runs on the CPU alone");
  return host_memory();
}

}  // namespace atl
