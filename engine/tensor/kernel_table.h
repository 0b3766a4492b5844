// Every kernel of the catalogue by name, and a device's table of them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "tensor/bfloat16.h"
#include "tensor/kernels.h"

// In the catalogue's order.
#define ATOLL_KERNELS(X)     \
  X(spmm)                    \
  X(gemm)                    \
  X(gemm_bt)                 \
  X(gemm_at)                 \
  X(sparse_gemm)             \
  X(sparse_gemm_at)          \
  X(bit_gemm)                \
  X(bit_gemm_at)             \
  X(apply)                   \
  X(apply_backward)          \
  X(zero_sums)               \
  X(column_sums)             \
  X(column_sums_backward)    \
  X(sum_rows)                \
  X(dropout)                 \
  X(fill)                    \
  X(axpby)                   \
  X(scale)                   \
  X(scale_rows)              \
  X(gather_rows)             \
  X(scatter_add_rows)        \
  X(scatter_rows)            \
  X(norm_statistics)         \
  X(known_statistics)        \
  X(move_running_statistics) \
  X(softmax_begin)           \
  X(softmax_merge)           \
  X(attention_add)           \
  X(attention_finish)        \
  X(attention_dot)           \
  X(attention_backward)      \
  X(head_dot)                \
  X(head_dot_backward)       \
  X(softmax_add)             \
  X(softmax_finish)          \
  X(softmax_backward)        \
  X(cross_entropy)           \
  X(binary_cross_entropy)    \
  X(count_classes)           \
  X(count_labels)            \
  X(count_by_class)          \
  X(count_by_label)          \
  X(count_confusions)        \
  X(begin_step)              \
  X(adam)                    \
  X(sgd)                     \
  X(squared_norm)            \
  X(clip)                    \
  X(count_non_finite)        \
  X(narrow_in_place)         \
  X(widen_in_place)

namespace atl {

enum class Kernel {
#define ATOLL_KERNEL(name) k_##name,
  ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
};

class KernelSet {
 public:
  constexpr KernelSet(std::initializer_list<Kernel> kernels) {
    for (const Kernel each : kernels) bits_ |= std::uint64_t(1) << int(each);
  }
  constexpr bool has(Kernel kernel) const { return (bits_ >> int(kernel) & 1) != 0; }

 private:
  std::uint64_t bits_ = 0;
};

/// A device's kernels. They expect checked arguments: shapes fit, and operands are in the device's memory.
struct KernelTable {
#define ATOLL_KERNEL(name) decltype(atl::name)* name;  // NOLINT(bugprone-macro-parentheses): declares it
  ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
  /// Kernels that take matrices stored in halves, except for weights, statistics and scores; axpby must be
  /// one. Other kernels get copies.
  KernelSet take_halves;
};

namespace cpu {
#define ATOLL_KERNEL(name) decltype(atl::name) name;  // NOLINT(bugprone-macro-parentheses)
ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
}  // namespace cpu

/// tensor/cpu/table.cc
const KernelTable& cpu_kernels();

}  // namespace atl
