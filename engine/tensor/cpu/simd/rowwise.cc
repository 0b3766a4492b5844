// Loops over the rows of dense matrices that only memory limits.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/mask.h"
#include "tensor/cpu/simd/stored.h"

namespace atl::simd::ATOLL_LEVEL {

void column_sums(In x, Index cols, double* sums, bool squares, Index begin, Index end) {
  for (Index row = begin; row < end; ++row) {
    const Real* values = x.row(row);
    for (Index c = 0; c < cols; ++c) sums[c] += double(values[c]);
    if (!squares) continue;
    for (Index c = 0; c < cols; ++c) sums[cols + c] += double(values[c]) * double(values[c]);
  }
}

void dropout(const Mask& of_rows, In x, Out out, Index first, Index cols, Index begin, Index end) {
  const auto rows = [&]<bool kMixed>() {
    for (Index row = begin; row < end; ++row) {
      const Mask mask = of_row(of_rows, row);
      const std::uint64_t key = mask.threshold == 0 ? 0 : row_key(mask, row);
      const auto from = row_of<kMixed>(x, row);
      const auto to = row_of<kMixed>(out, row);
      for_columns(0, cols, [&](Index c, int n) {
        const Vec v = load(from + c, n);
        store(to + c, masked(v, key, std::uint32_t(first + c), mask.threshold, mask.scale), n);
      });
    }
  };
  with_storage(rows, x, out);
}

void axpby(Real a, In x, Real b, Out out, Index cols, Index begin, Index end) {
  const auto rows = [&]<bool kMixed>() {
    for (Index row = begin; row < end; ++row) {
      const auto from = row_of<kMixed>(x, row);
      const auto to = row_of<kMixed>(out, row);
      for_columns(0, cols, [&](Index c, int n) {
        Vec v = load(from + c, n) * a;
        if (b != 0) v += load(to + c, n) * b;
        store(to + c, v, n);
      });
    }
  };
  with_storage(rows, x, out);
}

void gather(In x, const VertexId* index, Out out, Index cols, Index begin, Index end) {
  constexpr Index kAhead = 32;
  const auto rows = [&]<bool kMixed>() {
    const Index line = 64 / Index(x.halves != nullptr ? sizeof(Bfloat16) : sizeof(Real));
    for (Index row = begin; row < end; ++row) {
      const auto from = row_of<kMixed>(x, index[row]);
      const auto to = row_of<kMixed>(out, row);
      const auto later = row_of<kMixed>(x, index[row + kAhead < end ? row + kAhead : row]);
      for (Index c = 0; c < cols; c += line) prefetch(later + c);
      for_columns(0, cols, [&](Index c, int n) { store(to + c, load(from + c, n), n); });
    }
  };
  with_storage(rows, x, out);
}

void scatter_add(In x, const VertexId* index, Out out, Index cols, Index begin, Index end) {
  const auto rows = [&]<bool kMixed>() {
    for (Index row = begin; row < end; ++row) {
      const auto from = row_of<kMixed>(x, row);
      const auto to = row_of<kMixed>(out, index[row]);
      for_columns(0, cols, [&](Index c, int n) { store(to + c, load(to + c, n) + load(from + c, n), n); });
    }
  };
  with_storage(rows, x, out);
}

Index count_non_finite(In x, Index cols, Index begin, Index end) {
  constexpr std::uint16_t kExponent = 0x7f80;  // all ones: infinite or NaN
  Index count = 0;
  for (Index row = begin; row < end; ++row) {
    if (x.halves != nullptr) {
      const Bfloat16* halves = x.halves + row * x.stride;
      for (Index c = 0; c < cols; ++c) count += (halves[c].bits & kExponent) == kExponent ? 1 : 0;
      continue;
    }
    const Real* values = x.row(row);
    for (Index c = 0; c < cols; ++c) count += values[c] - values[c] == 0 ? 0 : 1;
  }
  return count;
}

}  // namespace atl::simd::ATOLL_LEVEL
