// The pointers in a kernel's arguments. each_operand(argument, visit) calls visit(pointer, elements) for
// every pointer to memory that a kernel reads or writes, by reference, so that a device can check or replace
// it. `elements` is −1 if other arguments give the number. A visitor that takes matrices gets visit(matrix)
// instead, because some columns of a wider matrix have the values of other columns between their rows.
#pragma once

#include <span>
#include <type_traits>

#include "tensor/kernels.h"

namespace atl {

template <class T, class F>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void each_operand(T&, F&&) {}

template <class T, class F>
void each_operand(T*& data, F&& visit) {
  if (data != nullptr) visit(data, Index(-1));
}

template <class T, class F>
void each_operand(View<T>& v, F&& visit) {
  if (v.empty()) return;
  if constexpr (std::is_invocable_v<F&, View<T>&>) return visit(v);
  const Index elements = (v.rows - 1) * v.stride + v.cols;
  if (v.halves != nullptr) return visit(v.halves, elements);
  visit(v.data, elements);
}

template <class T, class F>
void each_operand(std::span<T>& values, F&& visit) {
  T* data = values.data();
  if (!values.empty()) visit(data, Index(values.size()));
  values = {data, values.size()};
}

template <class F, class... Parts>
void each_part(F&& visit, Parts&... parts) {
  (each_operand(parts, visit), ...);
}

template <class F>
void each_operand(CsrView& csr, F&& visit) {
  if (csr.offsets != nullptr) visit(csr.offsets, csr.rows + 1);
  each_part(visit, csr.columns, csr.weights);
}

template <class F>
void each_operand(Arcs& arcs, F&& visit) {
  each_part(visit, arcs.csr, arcs.row_scale, arcs.col_scale);
}

template <class F>
void each_operand(SparseRows& x, F&& visit) {
  each_part(visit, x.csr, x.transpose);
}

template <class F>
void each_operand(BitView& bits, F&& visit) {
  if (bits.rows > 0 && bits.cols > 0) visit(bits.words, bits.rows * bits.row_words());
}

template <class F>
void each_operand(BitRows& x, F&& visit) {
  each_part(visit, x.bits, x.transpose, x.levels);
}

template <class F>
void each_operand(Dropout& d, F&& visit) {
  if (d) each_operand(d.ids, visit);
}

template <class F>
void each_operand(Epilogue& e, F&& visit) {
  each_part(visit, e.bias, e.gain, e.shift, e.col_mean, e.col_rstd, e.row_stats, e.residual, e.dropout);
}

template <class F>
void each_operand(EpilogueGradient& g, F&& visit) {
  each_part(visit, g.bias, g.gain, g.shift, g.residual);
}

template <class F>
void each_operand(SoftmaxState& state, F&& visit) {
  each_part(visit, state.max, state.sum);
}

template <class F>
void each_operand(Softmaxes& s, F&& visit) {
  each_part(visit, s.state, s.out);
}

template <class F>
void each_operand(Attention& a, F&& visit) {
  each_operand(a.arcs, visit);
  if (a.dropout_rate > 0) each_part(visit, a.dst_ids, a.src_ids);
}

template <class F>
void each_operand(AdamRule&, F&&) {}
template <class F>
void each_operand(SgdRule&, F&&) {}

}  // namespace atl
