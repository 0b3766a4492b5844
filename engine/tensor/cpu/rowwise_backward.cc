// Backward of the epilogue. Gradients of its parameters are sums over rows. Each chunk leaves its own sums in
// the workspace, and they are added in chunk order.
#include "tensor/cpu/arguments.h"
#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

/// The chunk's rows of the scratch matrix, for the gradients of bias, gain and shift.
simd::FinishSums sums_of_chunk(MatrixView scratch, Index chunk, const EpilogueGradient& wanted) {
  return {wanted.bias != nullptr ? scratch.row(3 * chunk) : nullptr,
          wanted.gain != nullptr ? scratch.row(3 * chunk + 1) : nullptr,
          wanted.shift != nullptr ? scratch.row(3 * chunk + 2) : nullptr};
}

void add_chunks(MatrixView scratch, Index chunks, Index kind, Real* total) {
  for (Index c = 0; total != nullptr && c < scratch.cols; ++c) {
    double sum = 0;
    for (Index chunk = 0; chunk < chunks; ++chunk) sum += double(scratch.at(3 * chunk + kind, c));
    total[c] += Real(sum);
  }
}

/// means (2, cols) = sums / count.
void mean_of(Context& ctx, std::span<const double> sums, double count, MatrixView means) {
  for_rows(ctx, Index(sums.size()), 1, [&](Index begin, Index end) {
    for (Index i = begin; i < end; ++i) means.data[i] = Real(sums[std::size_t(i)]) * Real(1 / count);
  });
}

}  // namespace

void apply_backward(Context& ctx, const Epilogue& epilogue, ConstMatrixView pre, ConstMatrixView y,
                    MatrixView dy, const EpilogueGradient& gradient, std::span<const double> col_sums,
                    double count) {
  static constexpr ScratchKey kMeans, kSums;
  simd::FinishBackward b;
  b.finish = plain(epilogue);
  b.pre = plain(pre);
  b.y = plain(y);
  b.dy = plain_out(dy);
  b.residual = plain_out(gradient.residual);
  b.cols = dy.cols;
  if (b.finish.batch_norm) {
    const MatrixView means = ctx.workspace->matrix(kMeans, 2, dy.cols);
    mean_of(ctx, col_sums, count, means);
    b.col_mean_dy = means.row(0);
    b.col_mean_dyx = means.row(1);
  }
  const RowChunks chunks = few_chunks_of_rows(dy.rows, dy.cols);
  const MatrixView scratch = ctx.workspace->matrix(kSums, 3 * chunks.count(), dy.cols);
  run_chunks(ctx, chunks.count(), [&](Index chunk) {
    simd::loops().finish_backward(b, sums_of_chunk(scratch, chunk, gradient), chunks.begin(chunk),
                                  chunks.end(chunk));
  });
  add_chunks(scratch, chunks.count(), 0, gradient.bias);
  add_chunks(scratch, chunks.count(), 1, gradient.gain);
  add_chunks(scratch, chunks.count(), 2, gradient.shift);
}

}  // namespace atl::cpu
