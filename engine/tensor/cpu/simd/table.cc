// The table of this instruction set's loops.
#include "tensor/cpu/simd/level.h"

#define ATOLL_NAME_OF(level) ATOLL_QUOTED(level)
#define ATOLL_QUOTED(level) #level

namespace atl::simd::ATOLL_LEVEL {

extern const Table table;
const Table table{
    .name = ATOLL_NAME_OF(ATOLL_LEVEL),
    .spmm = spmm,
    .panel_elements = panel_elements,
    .pack_panels = pack_panels,
    .product = product,
    .product_at = product_at,
    .bit_product = bit_product,
    .finish = finish,
    .finish_backward = finish_backward,
    .norm_sums = norm_sums,
    .column_sums = column_sums,
    .dropout = dropout,
    .axpby = axpby,
    .gather = gather,
    .scatter_add = scatter_add,
    .attend = attend,
    .pack_scores = pack_scores,
    .attend_backward = attend_backward,
    .add_arc_scores = add_arc_scores,
    .head_dot = head_dot,
    .head_dot_backward = head_dot_backward,
    .softmax_sum = softmax_sum,
    .softmax_sum_backward = softmax_sum_backward,
    .cross_entropy = cross_entropy,
    .binary_cross_entropy = binary_cross_entropy,
    .adam = adam,
    .squared_norm = squared_norm,
    .count_non_finite = count_non_finite,
    .multiply_adds = multiply_adds,
};

}  // namespace atl::simd::ATOLL_LEVEL
