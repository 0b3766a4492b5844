#include "tensor/memory.h"

#include "tensor/backend.h"

namespace atl {

const Memory& memory_of(Device device) {
  if (device == Device::kCuda) return backend().memory;
  return device == Device::kDry ? dry_memory() : host_memory();
}

}  // namespace atl
