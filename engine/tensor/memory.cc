#include "tensor/memory.h"

#include <sys/mman.h>

#include "base/error.h"
#include "tensor/backend.h"

namespace atl {

const Memory& memory_of(Device device) {
  if (device == Device::kCuda) return backend().memory;
  return device == Device::kDry ? dry_memory() : host_memory();
}

// The memory of a dry run, which allocates everything that a run would hold and touches almost none of it. It
// is address space that the system neither backs nor counts, so a job of any size can be planned on any
// machine.

namespace {

constexpr std::size_t kPage = 4096;  // the mapping's length is in its first bytes

Allocation allocate(std::size_t wanted) {
  const std::size_t bytes = host_block(wanted).bytes, mapped = bytes + kPage;
  void* const start =
      mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) {
    fail(
        "this job can't be planned here: one of its arrays takes {:.3g} GiB, more addresses than this process may "
        "have (see `ulimit -v` and vm.overcommit_memory; a machine has 131,072 GiB of them)",
        double(bytes) / 0x1p30);
  }
  madvise(start, mapped, MADV_NOHUGEPAGE);  // a touched byte costs 4 KiB, not 2 MiB
  *static_cast<std::size_t*>(start) = mapped;
  return {static_cast<char*>(start) + kPage, bytes};
}

void release(void* data) {
  if (data == nullptr) return;
  void* const start = static_cast<char*>(data) - kPage;
  munmap(start, *static_cast<std::size_t*>(start));
}

}  // namespace

const Memory& dry_memory() {
  constexpr auto nothing = [](void*, const void*, std::size_t) {};
  static constexpr Memory memory{allocate, release, [](void*, std::size_t) {}, nothing, nothing, nothing};
  return memory;
}

}  // namespace atl
