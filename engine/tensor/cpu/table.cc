// The CPU's kernels by name.
#include "tensor/kernel_table.h"

namespace atl {

const KernelTable& cpu_kernels() {
  static constexpr KernelTable table{
#define ATOLL_KERNEL(name) .name = cpu::name,
      ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
          .take_halves = {Kernel::k_spmm, Kernel::k_gemm, Kernel::k_gemm_bt, Kernel::k_gemm_at,
                          Kernel::k_apply, Kernel::k_apply_backward, Kernel::k_column_sums_backward,
                          Kernel::k_dropout, Kernel::k_fill, Kernel::k_axpby, Kernel::k_scale,
                          Kernel::k_gather_rows, Kernel::k_scatter_add_rows, Kernel::k_scatter_rows,
                          Kernel::k_count_non_finite},
  };
  return table;
}

}  // namespace atl
