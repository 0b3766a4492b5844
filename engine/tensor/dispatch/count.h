// Counts a kernel's work if a dry run asks for it (Context::count): the bytes of all matrices among its
// arguments, and what the kernels that multiply or gather rows do besides.
#pragma once

#include <type_traits>

#include "tensor/dispatch/operands.h"
#include "tensor/rates.h"

namespace atl {

/// Adds the bytes of each operand that it visits. If an operand is some columns of a wider matrix, only these
/// count. An array whose length the arguments don't give doesn't count. What is written counts twice, because
/// a cache reads a line before it writes it back.
struct StreamedOperands {
  ComputeWork& work;

  template <class E>
  void operator()(E*, Index elements) const {
    add<E>(double(std::max<Index>(0, elements)) * sizeof(E));
  }
  template <class T>
  void operator()(const View<T>& matrix) const {
    add<T>(double(matrix.rows) * double(matrix.row_bytes()));
  }

 private:
  template <class E>
  void add(double bytes) const {
    work += streamed(std::is_const_v<E> ? bytes : 2 * bytes, bytes);
  }
};

/// Counts each matrix once.
template <class... Given>
ComputeWork streams(const Given&... arguments) {
  ComputeWork work;
  const auto add_one = [&](auto operand) {  // a copy: visits take references
    each_operand(operand, StreamedOperands{work});
  };
  (add_one(arguments), ...);
  return work;
}

/// The work of gathering `rows` rows by their ids, from a matrix of `of` rows. A row takes whole cache lines,
/// and finding it takes as long as half a line.
inline ComputeWork gathers(Index rows, Index of, Index row_bytes, Index bytes_of_a_name = sizeof(VertexId)) {
  constexpr Index kLine = 64;
  const Index lines = (row_bytes + kLine - 1) / kLine;
  const Index bytes = bytes_of_a_name + kLine * lines + kLine / 2;
  return gathered(double(rows) * double(bytes), double(of) * double(row_bytes));
}
inline ComputeWork products(double flops) {
  return {.product_flops = flops};
}
/// The same, for a product whose tall operand is `of`.
inline ComputeWork products(double flops, const ConstMatrixView& of) {
  if (of.halves != nullptr) return {.half_flops = flops};
  return products(flops);
}
/// Work that is neither products nor memory, in units of a softmax's term.
inline ComputeWork terms(Index rows, double of_a_row) {
  return products(kTermFlops * double(rows) * of_a_row);
}
/// Work for each head of a row, and for each of its columns.
inline ComputeWork head_terms(Index rows, int heads, double of_a_head, Index cols, double of_a_column) {
  return terms(rows, double(heads) * of_a_head + double(cols) * of_a_column);
}
/// The draws of a dropout.
inline ComputeWork draws(const Dropout& dropout, Index rows, Index cols) {
  constexpr double kOfADraw = 0.4;
  return dropout ? terms(rows, kOfADraw * double(cols)) : ComputeWork{};
}

/// The work of sums of neighbours' rows, from a matrix with a row for each column of `arcs`. To begin and end
/// a sum costs some terms, mostly for a branch that nobody can predict; wide rows cost more. A factor per arc
/// costs some terms too.
inline ComputeWork gathers(const CsrView& arcs, Index row_bytes, bool scaled = false) {
  constexpr Index kBeginning = 24, kBytesOfATerm = 16, kWeighted = 3;
  const bool weighted = arcs.weights != nullptr;
  return gathers(arcs.arcs(), arcs.cols, row_bytes, weighted ? 8 : 4) +
         terms(arcs.rows, double(kBeginning + row_bytes / kBytesOfATerm)) +
         terms(arcs.arcs(), weighted ? kWeighted
                            : scaled ? 1
                                     : 0);
}

/// Attention's work beside its sums. An arc has few numbers, so vectors are mostly empty: an arc takes as
/// long as if it had two more heads.
inline ComputeWork attention_terms(const CsrView& arcs, int heads, int times = 1) {
  constexpr Index kOfAHead = 5, kBeginning = 40;
  return terms(arcs.rows, kBeginning) + terms(times * arcs.arcs(), kOfAHead * (2 + heads));
}

/// Work on finished rows, or in their backward pass. Norms go over a row several times, and ELU needs an
/// exponential.
inline ComputeWork finishes(const Epilogue& e, Index rows, Index cols, bool back = false) {
  const bool norm = e.norm != Epilogue::Norm::kNone;
  if (!norm && e.bias == nullptr && e.residual.empty() && e.activation == Activation::kNone && !e.dropout)
    return {};
  const double of_a_column = norm ? (back ? 3 : 1.5) : e.activation == Activation::kElu && !back ? 1.25 : 0.5;
  return terms(rows, (norm ? 16 : 8) + of_a_column * double(cols)) + draws(e.dropout, rows, cols);
}

/// Adds work(), a ComputeWork. It is called only if work is counted, because it reads numbers of arcs, which
/// may be in a device's memory.
template <class Work>
void add_work(const Context& ctx, const Work& work) {
  if (ctx.count != nullptr) *ctx.count += work();
}

}  // namespace atl
