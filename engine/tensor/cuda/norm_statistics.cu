// Batch norm's statistics, column by column.
#include "tensor/activation.h"
#include "tensor/cuda/elements.h"
#include "tensor/cuda/table.h"

namespace atl::cuda {
namespace {

struct Moments {
  double mean, variance;
};

/// The moments of column c, from Σ x and Σ x².
__device__ Moments moments_of(const double* sums, Index cols, double count, Index c) {
  const double mean = sums[c] / count, variance = sums[cols + c] / count - mean * mean;
  return {mean, variance > 0 ? variance : 0.0};
}

__device__ void write(const Moments& m, MatrixView stats, Index c) {
  at(stats, 0, c) = Real(m.mean);
  at(stats, 1, c) = Real(1 / sqrt(m.variance + kNormEpsilon));
}

}  // namespace

void norm_statistics(Context& ctx, std::span<const double> sums, double count, MatrixView stats) {
  const double* const from = sums.data();
  for_items(ctx, stats.cols,
            [=] __device__(Index c) { write(moments_of(from, stats.cols, count, c), stats, c); });
}

void known_statistics(Context& ctx, const Real* mean, const Real* variance, MatrixView stats) {
  for_items(ctx, stats.cols, [=] __device__(Index c) {
    write({double(mean[c]), double(variance[c])}, stats, c);
  });
}

void move_running_statistics(Context& ctx, std::span<const double> sums, double count, double share,
                             Real* mean, Real* variance) {
  const double* const from = sums.data();
  const Index cols = Index(sums.size()) / 2;
  for_items(ctx, cols, [=] __device__(Index c) {
    const Moments newest = moments_of(from, cols, count, c);
    const double unbiased = count > 1 ? newest.variance * count / (count - 1) : newest.variance;
    mean[c] += Real(share * (newest.mean - double(mean[c])));
    variance[c] += Real(share * (unbiased - double(variance[c])));
  });
}

}  // namespace atl::cuda
