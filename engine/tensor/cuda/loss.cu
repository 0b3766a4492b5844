// Losses over selected rows; the gradient of other rows is 0. Keeps each selected row's loss for the sum.
#include "tensor/cuda/sums.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

constexpr ScratchKey kLosses;

/// *sum += Σ work(row, lanes) over the selected rows. work() returns a row's loss on all lanes.
template <class F>
void over_selected(Context& ctx, ConstMatrixView logits, std::span<const VertexId> rows, MatrixView d_logits,
                   double* sum, const F& work) {
  if (!d_logits.empty()) cuda::fill(ctx, 0, d_logits);
  const VertexId* const row_of = rows.data();
  const Index count = Index(rows.size());
  double* const losses = ctx.workspace->doubles(kLosses, count + 1).data();
  for_rows(ctx, count, logits.cols, [=] __device__(Index i, const Lanes& lanes) {
    const double loss = work(Index(row_of[i]), lanes);
    if (lanes.lane == 0) losses[i] = loss;
  });
  sum_over_items(ctx, count, sum, [=] __device__(Index i) { return losses[i]; });
}

}  // namespace

void cross_entropy(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  const bool wants_gradient = !d_logits.empty();
  over_selected(ctx, logits, rows, d_logits, sum, [=] __device__(Index row, const Lanes& lanes) {
    const Real* const x = row_of(logits, row);
    const Index label = labels[row];
    Real top = x[0];
    for (Index c = lanes.lane; c < logits.cols; c += lanes.count) top = x[c] > top ? x[c] : top;
    top = lanes.max(top);
    Real total = 0;
    for (Index c = lanes.lane; c < logits.cols; c += lanes.count) total += exp(x[c] - top);
    total = lanes.sum(total);
    if (wants_gradient) {
      const Real factor = scale / total;
      for (Index c = lanes.lane; c < logits.cols; c += lanes.count)
        at(d_logits, row, c) = exp(x[c] - top) * factor - (c == label ? scale : Real(0));
    }
    return log(double(total)) - double(x[label] - top);
  });
}

void binary_cross_entropy(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                          std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  const bool wants_gradient = !d_logits.empty();
  over_selected(ctx, logits, rows, d_logits, sum, [=] __device__(Index row, const Lanes& lanes) {
    double total = 0;
    for (Index c = lanes.lane; c < logits.cols; c += lanes.count) {
      // log(1 + e^x) − t·x without overflow: max(x, 0) + log(1 + e^−|x|) − t·x.
      const double v = double(at(logits, row, c)), small = exp(v < 0 ? v : -v);
      const std::uint8_t target = at(targets, row, c);
      total += (v > 0 ? v : 0) + log1p(small) - (target != 0 ? v : 0);
      if (!wants_gradient) continue;
      const double sigmoid = (v > 0 ? 1 : small) / (1 + small);
      at(d_logits, row, c) = Real(sigmoid - double(target)) * scale;
    }
    return lanes.sum(total);
  });
}

}  // namespace atl::cuda
