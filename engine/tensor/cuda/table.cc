#include "tensor/cuda/table.h"

#include "tensor/cuda/backend.h"

namespace atl::cuda {

const KernelTable& kernels() {
  static constexpr KernelTable table{
#define ATOLL_KERNEL(name) .name = cuda::name,
      ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
  };
  return table;
}

}  // namespace atl::cuda
