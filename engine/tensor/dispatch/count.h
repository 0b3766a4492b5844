// What a kernel does, counted where a dry run asks for it (Context::count): the bytes of all matrices that its arguments name, and what
// the kernels that multiply, or gather rows, do beside it.
#pragma once

#include "tensor/dispatch/operands.h"
#include "tensor/rates.h"

namespace atl {

/// Bytes read or written in order, of an array of `of` bytes.
inline ComputeWork streamed(double bytes, double of) {
  return of <= kNearBytes ? ComputeWork{.near_streamed_bytes = bytes} : ComputeWork{.streamed_bytes = bytes};
}

/// Each matrix once. Of arrays whose length the arguments don't say, nothing.
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

/// `rows` of a matrix of `of` rows and so many columns, read at random, and the ids that name them.
inline ComputeWork gathers(Index rows, Index of, Index cols, Index bytes_of_a_name) {
  const double bytes = double(rows) * double(bytes_of_a_name + Index(sizeof(Real)) * cols);
  const bool near = double(of) * double(cols) * sizeof(Real) <= kNearBytes;
  return near ? ComputeWork{.near_gathered_bytes = bytes} : ComputeWork{.gathered_bytes = bytes};
}
/// Neighbours' rows, of a matrix with a row for each of the arcs' columns.
inline ComputeWork gathers(const CsrView& arcs, Index cols) {
  return gathers(arcs.arcs(), arcs.cols, cols, arcs.weights != nullptr ? 8 : 4);
}

inline ComputeWork products(double flops) {
  return {.product_flops = flops};
}

/// work(): a ComputeWork; asked for where it is counted alone, because arcs are counted in memory that may be a device's.
template <class Work>
void add_work(const Context& ctx, const Work& work) {
  if (ctx.count != nullptr) *ctx.count += work();
}

}  // namespace atl
