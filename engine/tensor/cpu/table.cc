// The CPU's kernels by name.
#include "tensor/kernel_table.h"

namespace atl {

const KernelTable& cpu_kernels() {
  static constexpr KernelTable table{
#define ATOLL_KERNEL(name) .name = cpu::name,
      ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
  };
  return table;
}

}  // namespace atl
