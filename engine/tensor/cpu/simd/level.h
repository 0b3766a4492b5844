// The loops of one instruction set, ATOLL_LEVEL, defined in this folder's files and gathered in table.cc.
#pragma once

#include "tensor/cpu/simd/loops.h"

namespace atl::simd::ATOLL_LEVEL {

void spmm(const Spmm& s, Index begin, Index end, Index col_begin, Index col_end);
Index panel_elements(Index inner, Index cols);
void pack_panels(In w, bool transposed, Index inner, Index cols, Real* panels);
void product(const Product& p, Index begin, Index end);
void product_at(const ProductAt& p, Index begin, Index end);
void bit_product(const BitProduct& p, Index begin, Index end);
void finish(const Finish& f, Out y, Index begin, Index end, Index col_begin, Index col_end);
void finish_backward(const FinishBackward& b, const FinishSums& sums, Index begin, Index end);
void norm_sums(const FinishBackward& b, double* sums, Index begin, Index end);
void column_sums(In x, Index cols, double* sums, bool squares, Index begin, Index end);
void dropout(const Mask& mask, In x, Out out, Index first, Index cols, Index begin, Index end);
void axpby(Real a, In x, Real b, Out out, Index cols, Index begin, Index end);
void gather(In x, const VertexId* index, Out out, Index cols, Index begin, Index end);
void scatter_add(In x, const VertexId* index, Out out, Index cols, Index begin, Index end);
void attend(const Attend& a, Index begin, Index end);
void pack_scores(const Attend& a, Index begin, Index end);
void add_arc_scores(const Attend& a, Index begin, Index end);
void attend_backward(const Attend& a, Index begin, Index end);
void head_dot(const HeadDot& h, Index begin, Index end);
void head_dot_backward(const HeadDot& h, Real* d_y, Index begin, Index end);
void softmax_sum(const SoftmaxSum& s, Index begin, Index end);
void softmax_sum_backward(const SoftmaxSum& s, Index begin, Index end);
double cross_entropy(const CrossEntropy& c, Index begin, Index end);
double binary_cross_entropy(const CrossEntropy& c, Index begin, Index end);
void adam(const Adam& a, Index begin, Index end);
double squared_norm(const Real* x, Index begin, Index end);
Index count_non_finite(In x, Index cols, Index begin, Index end);
Index multiply_adds(Index rounds, Real* left);

}  // namespace atl::simd::ATOLL_LEVEL
