// The host's memory. Large matrices use 2 MB pages if the kernel grants them, because rows gathered at random
// from 4 KB pages miss the address cache almost every time.
#include "tensor/memory.h"
#include "tensor/device_stream.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace atl {
namespace {

constexpr std::size_t kCacheLine = 64, kHugePage = std::size_t(2) << 20;

Allocation allocate_here(std::size_t wanted) {
  const auto [bytes, unit] = host_block(wanted);
  void* data = std::aligned_alloc(unit, bytes);
  if (data == nullptr) throw std::bad_alloc();
  if (unit == kHugePage) madvise(data, bytes, MADV_HUGEPAGE);  // only advice: refusal is no error
  return {data, bytes};
}

void clear(void* data, std::size_t bytes) {
  std::memset(data, 0, bytes);
}

void copy(void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

class HostStream final : public DeviceStream {
 public:
  void upload(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { copy(to, from, bytes); }
};

}  // namespace

HostBlock host_block(std::size_t wanted) {
  const std::size_t unit = wanted >= 4 * kHugePage ? kHugePage : kCacheLine;
  return {(wanted + unit - 1) / unit * unit, unit};
}

const Memory& host_memory() {
  static constexpr Memory memory{allocate_here, std::free, clear, copy, copy, copy};
  return memory;
}

DeviceStream& host_stream() {
  static HostStream stream;
  return stream;
}

}  // namespace atl
