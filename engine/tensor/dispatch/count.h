// What a kernel does, counted where a dry run asks for it (Context::count): the bytes of all matrices that its arguments name, and what
// the kernels that multiply, or gather rows, do beside it.
#pragma once

#include "tensor/dispatch/operands.h"
#include "tensor/rates.h"

namespace atl {

/// Of arrays whose length the arguments don't say, nothing.
template <class... Given>
double bytes_of(const Given&... arguments) {
  double bytes = 0;
  const auto add = [&]<class E>(E*, Index elements) {
    bytes += double(std::max<Index>(0, elements)) * sizeof(E);
  };
  const auto add_one = [&](auto operand) { each_operand(operand, add); };  // a copy: it may be written
  (add_one(arguments), ...);
  return bytes;
}

/// `rows` of a matrix read at random, each of so many columns, and the ids that name them.
inline double gathered(Index rows, Index cols, Index bytes_of_a_name) {
  return double(rows) * double(bytes_of_a_name + Index(sizeof(Real)) * cols);
}
/// Neighbours' rows.
inline double gathered(const CsrView& arcs, Index cols) {
  return gathered(arcs.arcs(), cols, arcs.weights != nullptr ? 8 : 4);
}

/// work(): a ComputeWork; asked for where it is counted alone, because arcs are counted in memory that may be a device's.
template <class Work>
void add_work(const Context& ctx, const Work& work) {
  if (ctx.count != nullptr) *ctx.count += work();
}

}  // namespace atl
