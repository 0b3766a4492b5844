// Loops over the rows of dense matrices that are limited by memory alone.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/mask.h"

namespace atl::simd::ATOLL_LEVEL {

void column_sums(In x, Index cols, double* sums, bool squares, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    const Real* values = x.row(row);
    for (Index c = 0; c < cols; ++c) sums[c] += double(values[c]);
    if (!squares) continue;
    for (Index c = 0; c < cols; ++c) sums[cols + c] += double(values[c]) * double(values[c]);
  }
}

void dropout(const Mask& mask, In x, Out out, Index first, Index cols, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    const std::uint64_t key = row_key(mask, row);
    for_columns(0, cols, [&](Index c, int n) {
      const Vec v = load(x.row(row) + c, n);
      store(out.row(row) + c, masked(v, key, std::uint32_t(first + c), mask.threshold, mask.scale), n);
    });
  }
}

void axpby(Real a, In x, Real b, Out out, Index cols, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    for_columns(0, cols, [&](Index c, int n) {
      Vec v = load(x.row(row) + c, n) * a;
      if (b != 0) v += load(out.row(row) + c, n) * b;
      store(out.row(row) + c, v, n);
    });
  }
}

void gather(In x, const VertexId* index, Out out, Index cols, Index begin, Index end) {
  constexpr Index kAhead = 32;
  for (Index row = begin; row < end; ++row) {
    const Real* from = x.row(index[row]);
    const Real* later = x.row(index[row + kAhead < end ? row + kAhead : row]);
    for (Index c = 0; c < cols; c += 64 / Index(sizeof(Real))) __builtin_prefetch(later + c);
    for_columns(0, cols, [&](Index c, int n) { store(out.row(row) + c, load(from + c, n), n); });
  }
}

void scatter_add(In x, const VertexId* index, Out out, Index cols, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    Real* to = out.row(index[row]);
    for_columns(0, cols,
                [&](Index c, int n) { store(to + c, load(to + c, n) + load(x.row(row) + c, n), n); });
  }
}

Index count_non_finite(In x, Index cols, Index begin, Index end) {
  Index count = 0;
  for (Index row = begin; row < end; ++row) {
    const Real* values = x.row(row);
    for (Index c = 0; c < cols; ++c) count += values[c] - values[c] == 0 ? 0 : 1;
  }
  return count;
}

}  // namespace atl::simd::ATOLL_LEVEL
