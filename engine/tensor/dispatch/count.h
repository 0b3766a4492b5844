// Counts a kernel's work if a dry run asks for it (Context::count): the bytes of all matrices among its
// arguments, and what the kernels that multiply or gather rows do besides.
#pragma once

#include "tensor/dispatch/operands.h"
#include "tensor/rates.h"

namespace atl {

/// Counts each matrix once, and no array whose length the arguments don't give.
template <class... Given>
ComputeWork streams(const Given&... arguments) {
  ComputeWork work;
  const auto add = [&]<class E>(E*, Index elements) {
    const double bytes = double(std::max<Index>(0, elements)) * sizeof(E);
    work += streamed(bytes, bytes);
  };
  const auto add_one = [&](auto operand) { each_operand(operand, add); };  // a copy: it may be written
  (add_one(arguments), ...);
  return work;
}

/// Gathers `rows` of the `of` rows of a matrix, by ids. A row takes whole cache lines, and finding it takes
/// as long as half a line.
inline ComputeWork gathers(Index rows, Index of, Index row_bytes, Index bytes_of_a_name = sizeof(VertexId)) {
  constexpr Index kLine = 64;
  const Index lines = (row_bytes + kLine - 1) / kLine;
  const Index bytes = bytes_of_a_name + kLine * lines + kLine / 2;
  return gathered(double(rows) * double(bytes), double(of) * double(row_bytes));
}
inline ComputeWork products(double flops) {
  return {.product_flops = flops};
}
/// The same, for a product with this tall operand.
inline ComputeWork products(double flops, const ConstMatrixView& of) {
  if (of.halves != nullptr) return {.half_flops = flops};
  return products(flops);
}
/// Work that is neither products nor memory, in units of a softmax's term.
inline ComputeWork terms(Index rows, Index of_a_row) {
  return products(kTermFlops * double(rows) * double(of_a_row));
}

/// Sums of neighbours' rows, of a matrix with a row per column of the arcs. Beginning a sum costs some terms,
/// and so does a factor of an arc.
inline ComputeWork gathers(const CsrView& arcs, Index row_bytes, bool scaled = false) {
  constexpr Index kBeginning = 12, kWeighted = 3;
  const bool weighted = arcs.weights != nullptr;
  return gathers(arcs.arcs(), arcs.cols, row_bytes, weighted ? 8 : 4) + terms(arcs.rows, kBeginning) +
         terms(arcs.arcs(), weighted ? kWeighted
                            : scaled ? 1
                                     : 0);
}

/// Attention's work. An arc has few numbers, so vectors are mostly empty. An arc takes as long as two more
/// heads, and beginning a row takes longest.
inline ComputeWork attention_terms(const CsrView& arcs, int heads, int times = 1) {
  constexpr Index kOfAHead = 5, kBeginning = 300;
  return terms(arcs.rows, kBeginning) + terms(times * arcs.arcs(), kOfAHead * (2 + heads));
}

/// Work on finished rows, or in their backward pass. Norms go over a row several times.
inline ComputeWork finishes(const Epilogue& e, Index rows, Index cols, bool back = false) {
  constexpr Index kBeginning = 16;
  const bool norm = e.norm != Epilogue::Norm::kNone;
  if (!norm && e.bias == nullptr && e.residual.empty() && e.activation == Activation::kNone && !e.dropout)
    return {};
  const Index times = !norm ? 1 : back ? 6 : 3;
  return terms(rows, kBeginning + times * cols);
}

/// Adds work(), a ComputeWork. It is called only if work is counted, because it reads numbers of arcs, which
/// may be in a device's memory.
template <class Work>
void add_work(const Context& ctx, const Work& work) {
  if (ctx.count != nullptr) *ctx.count += work();
}

}  // namespace atl
