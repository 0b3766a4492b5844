#include "tensor/memory.h"

#include "base/error.h"

namespace atl {

const Memory& memory_of(Device device) {
  if (device == Device::kCuda) fail("device cuda: this build of Atoll runs only on the CPU");
  return device == Device::kDry ? dry_memory() : host_memory();
}

}  // namespace atl
