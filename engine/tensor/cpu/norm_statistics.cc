// Batch norm's statistics (Ioffe & Szegedy 2015, algorithms 1 and 2), column by column.
#include <algorithm>
#include <cmath>

#include "tensor/cpu/chunks.h"
#include "tensor/kernel_table.h"

namespace atl::cpu {
namespace {

struct Moments {
  double mean, variance;
};

/// The moments of column c, from Σ x and Σ x².
Moments moments_of(std::span<const double> sums, double count, Index c) {
  const std::size_t column = std::size_t(c), cols = sums.size() / 2;
  const double mean = sums[column] / count;
  return {mean, std::max(0.0, sums[cols + column] / count - mean * mean)};
}

void write(const Moments& m, MatrixView stats, Index c) {
  stats.at(0, c) = Real(m.mean);
  stats.at(1, c) = Real(1 / std::sqrt(m.variance + kNormEpsilon));
}

template <class F>
void for_columns(Context& ctx, Index cols, F&& work) {
  for_rows(ctx, cols, 1, [&](Index begin, Index end) {
    for (Index c = begin; c < end; ++c) work(c);
  });
}

}  // namespace

void norm_statistics(Context& ctx, std::span<const double> sums, double count, MatrixView stats) {
  for_columns(ctx, stats.cols, [&](Index c) { write(moments_of(sums, count, c), stats, c); });
}

void known_statistics(Context& ctx, const Real* mean, const Real* variance, MatrixView stats) {
  for_columns(ctx, stats.cols, [&](Index c) { write({mean[c], variance[c]}, stats, c); });
}

void move_running_statistics(Context& ctx, std::span<const double> sums, double count, double share,
                             Real* mean, Real* variance) {
  for_columns(ctx, Index(sums.size()) / 2, [&](Index c) {
    const Moments newest = moments_of(sums, count, c);
    const double unbiased = count > 1 ? newest.variance * count / (count - 1) : newest.variance;
    mean[c] += Real(share * (newest.mean - mean[c]));
    variance[c] += Real(share * (unbiased - variance[c]));
  });
}

}  // namespace atl::cpu
