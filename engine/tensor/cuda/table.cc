#include "tensor/cuda/table.h"

#include "tensor/cuda/backend.h"

namespace atl::cuda {

const KernelTable& kernels() {
  static constexpr KernelTable table{
#define ATOLL_KERNEL(name) .name = cuda::name,
      ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
          .take_halves = {Kernel::k_fill, Kernel::k_axpby, Kernel::k_scale, Kernel::k_gather_rows,
                          Kernel::k_scatter_add_rows, Kernel::k_scatter_rows},
  };
  return table;
}

}  // namespace atl::cuda
