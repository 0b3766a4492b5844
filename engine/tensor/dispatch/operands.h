// The pointers in a kernel's arguments: each_operand(argument, visit) calls visit(pointer, elements) for every pointer to memory that
// a kernel reads or writes, by reference, so that a device can look at it or replace it. −1 elements: as many as other arguments say.
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
  if (!v.empty()) visit(v.data, (v.rows - 1) * v.stride + v.cols);
}

template <class T, class F>
void each_operand(std::span<T>& values, F&& visit) {
  T* data = values.data();
  if (!values.empty()) visit(data, Index(values.size()));
  values = {data, values.size()};
}

template <class F>
void each_operand(CsrView& csr, F&& visit) {
  if (csr.offsets != nullptr) visit(csr.offsets, csr.rows + 1);
  each_operand(csr.columns, visit);
  each_operand(csr.weights, visit);
}

template <class F>
void each_operand(Arcs& arcs, F&& visit) {
  each_operand(arcs.csr, visit);
  each_operand(arcs.row_scale, visit);
  each_operand(arcs.col_scale, visit);
}

template <class F>
void each_operand(SparseRows& x, F&& visit) {
  each_operand(x.csr, visit);
  each_operand(x.transpose, visit);
}

template <class F>
void each_operand(BitView& bits, F&& visit) {
  if (bits.rows > 0 && bits.cols > 0) visit(bits.words, bits.rows * bits.row_words());
}

template <class F>
void each_operand(BitRows& x, F&& visit) {
  each_operand(x.bits, visit);
  each_operand(x.transpose, visit);
  each_operand(x.levels, visit);
}

template <class F>
void each_operand(Dropout& d, F&& visit) {
  if (d) each_operand(d.ids, visit);
}

template <class F>
void each_operand(Epilogue& e, F&& visit) {
  for (const Real** each : {&e.bias, &e.gain, &e.shift, &e.col_mean, &e.col_rstd}) each_operand(*each, visit);
  each_operand(e.row_stats, visit);
  each_operand(e.residual, visit);
  each_operand(e.dropout, visit);
}

template <class F>
void each_operand(EpilogueGradient& g, F&& visit) {
  for (Real** each : {&g.bias, &g.gain, &g.shift}) each_operand(*each, visit);
  each_operand(g.residual, visit);
}

template <class F>
void each_operand(SoftmaxState& state, F&& visit) {
  each_operand(state.max, visit);
  each_operand(state.sum, visit);
}

template <class F>
void each_operand(Softmaxes& s, F&& visit) {
  each_operand(s.state, visit);
  each_operand(s.out, visit);
}

template <class F>
void each_operand(Attention& a, F&& visit) {
  each_operand(a.arcs, visit);
  if (a.dropout_rate == 0) return;
  each_operand(a.dst_ids, visit);
  each_operand(a.src_ids, visit);
}

template <class F>
void each_operand(AdamRule&, F&&) {}
template <class F>
void each_operand(SgdRule&, F&&) {}

}  // namespace atl
