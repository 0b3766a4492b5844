// Losses over selected rows; the gradient of the others is 0.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

constexpr ScratchKey kChunkSums;

/// *sum += Σ work(first, behind) over ranges of all n rows, where rows[first … behind − 1] are the selected
/// rows of the range.
template <class F>
void over_selected(Context& ctx, Index n, std::span<const VertexId> rows, MatrixView d_logits, double* sum,
                   F&& work) {
  ATOLL_CHECK(rows.empty() || (rows.front() >= 0 && rows.back() < n), "rows {} … {} of {}", rows.front(),
              rows.back(), n);
  const RowChunks chunks{n, 1024};
  double* partial = zeroed_sums(ctx, kChunkSums, chunks.count()).data();
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    const Index begin = chunks.begin(chunk), end = chunks.end(chunk);
    for (Index row = begin; row < end && !d_logits.empty(); ++row) {
      std::fill(d_logits.row(row), d_logits.row(row) + d_logits.cols, Real(0));
    }
    const auto first = std::lower_bound(rows.begin(), rows.end(), begin) - rows.begin();
    const auto stop = std::lower_bound(rows.begin(), rows.end(), end) - rows.begin();
    partial[chunk] = work(first, stop);
  });
  double total = 0;
  for (Index chunk = 0; chunk < chunks.count(); ++chunk) total += partial[chunk];
  *sum += total;
}

simd::CrossEntropy plain(ConstMatrixView logits, std::span<const VertexId> rows, Real scale,
                         MatrixView d_logits) {
  simd::CrossEntropy loss;
  loss.logits = plain(logits);
  loss.classes = logits.cols;
  loss.rows = rows.data();
  loss.scale = scale;
  loss.d_logits = plain_out(d_logits);
  return loss;
}

}  // namespace

void cross_entropy(Context& ctx, ConstMatrixView logits, const std::int32_t* labels,
                   std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  simd::CrossEntropy loss = plain(logits, rows, scale, d_logits);
  loss.labels = labels;
  over_selected(ctx, logits.rows, rows, d_logits, sum,
                [&](Index first, Index stop) { return simd::loops().cross_entropy(loss, first, stop); });
}

void binary_cross_entropy(Context& ctx, ConstMatrixView logits, View<const std::uint8_t> targets,
                          std::span<const VertexId> rows, Real scale, MatrixView d_logits, double* sum) {
  simd::CrossEntropy loss = plain(logits, rows, scale, d_logits);
  loss.targets = targets.data;
  loss.targets_stride = targets.stride;
  over_selected(ctx, logits.rows, rows, d_logits, sum, [&](Index first, Index stop) {
    return simd::loops().binary_cross_entropy(loss, first, stop);
  });
}

}  // namespace atl::cpu
