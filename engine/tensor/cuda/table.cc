#include "tensor/cuda/table.h"

#include "tensor/cuda/backend.h"

namespace atl::cuda {

const KernelTable& kernels() {
  static constexpr KernelTable table{
#define ATOLL_KERNEL(name) .name = cuda::name,
      ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
          .take_halves = {Kernel::k_spmm,
                          Kernel::k_gemm,
                          Kernel::k_gemm_bt,
                          Kernel::k_gemm_at,
                          Kernel::k_sparse_gemm,
                          Kernel::k_sparse_gemm_at,
                          Kernel::k_apply,
                          Kernel::k_apply_backward,
                          Kernel::k_column_sums,
                          Kernel::k_column_sums_backward,
                          Kernel::k_sum_rows,
                          Kernel::k_dropout,
                          Kernel::k_fill,
                          Kernel::k_axpby,
                          Kernel::k_scale,
                          Kernel::k_scale_rows,
                          Kernel::k_gather_rows,
                          Kernel::k_scatter_add_rows,
                          Kernel::k_scatter_rows,
                          Kernel::k_softmax_begin,
                          Kernel::k_softmax_merge,
                          Kernel::k_attention_add,
                          Kernel::k_attention_finish,
                          Kernel::k_attention_dot,
                          Kernel::k_attention_backward,
                          Kernel::k_head_dot,
                          Kernel::k_head_dot_backward,
                          Kernel::k_softmax_add,
                          Kernel::k_softmax_finish,
                          Kernel::k_softmax_backward,
                          Kernel::k_count_non_finite},
  };
  return table;
}

}  // namespace atl::cuda
