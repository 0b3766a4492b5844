// A GPU's kernels: the catalogue's (tensor/kernels.h); each has a counterpart in tensor/cpu.
#pragma once

#include "tensor/kernel_table.h"

namespace atl::cuda {

#define ATOLL_KERNEL(name) decltype(atl::name) name;  // NOLINT(bugprone-macro-parentheses)
ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL

}  // namespace atl::cuda
