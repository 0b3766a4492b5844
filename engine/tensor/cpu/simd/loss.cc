// Cross entropies and their gradients: each selected row is read twice while it is in cache and written once.
#include "tensor/cpu/simd/level.h"
#include "tensor/cpu/simd/vec.h"

namespace atl::simd::ATOLL_LEVEL {
namespace {

Real row_max(const Real* x, Index n) {
  Real m = x[0];
  for (Index c = 1; c < n; ++c) m = x[c] > m ? x[c] : m;
  return m;
}

}  // namespace

double cross_entropy(const CrossEntropy& loss, Index begin, Index end) {
  double total = 0;
  for (Index i = begin; i < end; ++i) {
    const VertexId row = loss.rows[i];
    const Real* x = loss.logits.row(row);
    const Index label = loss.labels[row];
    const Real top = row_max(x, loss.classes);
    Real sum = 0;
    Vec sums{};
    for_columns(0, loss.classes, [&](Index c, int n) {
      const Vec p = exp(load(x + c, n) - top);
      if (loss.d_logits) store(loss.d_logits.row(row) + c, p, n);
      if (n == kLanes) {
        sums += p;
      } else {
        for (int k = 0; k < n; ++k) sum += p[k];
      }
    });
    sum += sum_lanes(sums);
    total += __builtin_log(double(sum)) - double(x[label] - top);
    if (!loss.d_logits) continue;
    Real* d = loss.d_logits.row(row);
    const Real factor = loss.scale / sum;
    for_columns(0, loss.classes, [&](Index c, int n) { store(d + c, load(d + c, n) * factor, n); });
    d[label] -= loss.scale;
  }
  return total;
}

double binary_cross_entropy(const CrossEntropy& loss, Index begin, Index end) {
  double total = 0;
  for (Index i = begin; i < end; ++i) {
    const VertexId row = loss.rows[i];
    const Real* x = loss.logits.row(row);
    const std::uint8_t* target = loss.targets + row * loss.targets_stride;
    for (Index c = 0; c < loss.classes; ++c) {
      // log(1 + e^x) − t·x without overflow: max(x, 0) + log(1 + e^−|x|) − t·x.
      const double v = double(x[c]), small = __builtin_exp(v < 0 ? v : -v);
      total += (v > 0 ? v : 0) + __builtin_log1p(small) - (target[c] != 0 ? v : 0);
      if (!loss.d_logits) continue;
      const double sigmoid = (v > 0 ? 1 : small) / (1 + small);
      loss.d_logits.row(row)[c] = Real(sigmoid - double(target[c])) * loss.scale;
    }
  }
  return total;
}

}  // namespace atl::simd::ATOLL_LEVEL
