// DeeperGCN's softmax aggregation: each column has its own softmax over the neighbours, and each neighbour's
// row is read once (online softmax, Milakov & Gimelshein 2018).
#include "tensor/cpu/arguments.h"
#include "tensor/cuda/arc_rows.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr Real kBeforeFirst = -std::numeric_limits<Real>::infinity();

/// A column's softmax so far; out is not divided by the sum yet.
struct Column {
  Real max, sum, out;

  /// Merges the softmax of other sources. One of the two exponentials is e⁰.
  __device__ void add(const Column& other) {
    if (other.max == kBeforeFirst) return;
    const bool grows = other.max > max;
    const Real shrink = exp(grows ? max - other.max : other.max - max);
    const Real ours = grows ? shrink : Real(1), theirs = grows ? Real(1) : shrink;
    sum = sum * ours + other.sum * theirs;
    out = out * ours + other.out * theirs;
    if (grows) max = other.max;
  }
};

constexpr int kAtOnce = 4;  // arcs whose rows are loaded together

/// out(i, c) and its state, over arcs to i; each lane has a column. kMixed as value_at.
template <bool kMixed>
struct SoftmaxOfRows {
  simd::SoftmaxSum s;

  using Sum = Column;

  __device__ Index first_of(Index row) const { return s.offsets[row]; }
  __device__ Sum begin() const { return {kBeforeFirst, 0, 0}; }
  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    const Index c = place.part * lanes.count + lanes.lane;
    if (c >= s.cols) return;
    for (Index e = first; e < stop; e += kAtOnce) {
      Real m[kAtOnce], weight[kAtOnce];
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i) {
        if (e + i >= stop) continue;
        m[i] = value_at<kMixed>(s.m, s.columns[e + i], c);
        weight[i] = s.weights == nullptr ? Real(1) : Real(s.weights[e + i]);
      }
#pragma unroll
      for (int i = 0; i < kAtOnce; ++i)
        if (e + i < stop && weight[i] != Real(0))  // others raise no maximum
          sum.add({m[i] * s.t, weight[i], weight[i] * m[i]});
    }
  }
  __device__ void merge(Sum& sum, const Sum& later) const {
    sum.add(later);
  }
  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Index c = place.part * lanes.count + lanes.lane;
    if (c >= s.cols || sum.max == kBeforeFirst) return;
    Column whole{at(s.max, place.row, c), at(s.sum, place.row, c), value_at<kMixed>(s.out, place.row, c)};
    whole.add(sum);
    at(s.max, place.row, c) = whole.max;
    at(s.sum, place.row, c) = whole.sum;
    put_at<kMixed>(s.out, place.row, c, whole.out);
  }
};

/// d_m(j, c), over arcs from j.
template <bool kMixed>
struct SoftmaxBackward {
  simd::SoftmaxSum s;

  using Sum = Real;

  __device__ Index first_of(Index row) const { return s.offsets[row]; }
  __device__ Sum begin() const { return 0; }
  __device__ void add(Sum& sum, Place place, Index first, Index stop, const Lanes& lanes) const {
    const Index c = place.part * lanes.count + lanes.lane;
    if (c >= s.cols) return;
    const Real m = value_at<kMixed>(s.m, place.row, c);
#pragma unroll 4
    for (Index e = first; e < stop; ++e) {
      if (s.weights != nullptr && s.weights[e] == 0) continue;  // it doesn't count; the sum may be 0
      const VertexId i = s.columns[e];
      Real p = exp(m * s.t - at(s.max, i, c)) / at(s.sum, i, c);
      if (s.weights != nullptr) p *= Real(s.weights[e]);
      sum += p * value_at<kMixed>(s.d_out, i, c) * ((m - value_at<kMixed>(s.out, i, c)) * s.t + Real(1));
    }
  }
  __device__ void merge(Sum& sum, const Sum& later) const {
    sum += later;
  }
  __device__ void finish(Sum& sum, Place place, const Lanes& lanes) const {
    const Index c = place.part * lanes.count + lanes.lane;
    if (c < s.cols) put_at<kMixed>(s.d_m, place.row, c, sum);
  }
};

ArcShape shape_of(const CsrView& csr, Index cols) {
  const int log = lanes_for(cols);
  return {csr.rows, blocks_for(cols, 1 << log), false, log, csr.cols};
}

}  // namespace
void softmax_add(Context& ctx, const Arcs& a, Real t, ConstMatrixView m, const Softmaxes& softmaxes) {
  const simd::SoftmaxSum s = softmax_sum(a.csr, t, m, softmaxes.state, softmaxes.out);
  const ArcShape shape = shape_of(a.csr, m.cols);
  if (any_halves(s.m, s.out)) return for_arcs(ctx, SoftmaxOfRows<true>{s}, shape);
  for_arcs(ctx, SoftmaxOfRows<false>{s}, shape);
}

void softmax_backward(Context& ctx, const Arcs& /*a*/, const CsrView& transpose, Real t, ConstMatrixView m,
                      const SoftmaxState& state, ConstMatrixView out, ConstMatrixView d_out, MatrixView d_m) {
  simd::SoftmaxSum s = softmax_sum(transpose, t, m, state, out);
  s.d_out = plain(d_out);
  s.d_m = plain_out(d_m);
  const ArcShape shape = shape_of(transpose, m.cols);
  if (any_halves(s.m, s.out, s.d_out, s.d_m)) return for_arcs(ctx, SoftmaxBackward<true>{s}, shape);
  for_arcs(ctx, SoftmaxBackward<false>{s}, shape);
}

}  // namespace atl::cuda
