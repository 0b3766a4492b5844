// Batch norm's statistics against the mean and variance of the columns themselves.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(NormStatistics);

constexpr ScratchKey kSums;

struct Columns {
  Matrix x;
  double mean(Index c) const {
    double sum = 0;
    for (Index r = 0; r < x.rows(); ++r) sum += double(x.at(r, c));
    return sum / double(x.rows());
  }
  double variance(Index c) const {
    double sum = 0;
    for (Index r = 0; r < x.rows(); ++r) sum += std::pow(double(x.at(r, c)) - mean(c), 2);
    return sum / double(x.rows());
  }
};

TEST_P(NormStatistics, AreMeanAndInverseDeviationOfColumns) {
  TestRank rank;
  for (const auto& [rows, cols] : {std::pair<Index, Index>{1, 3}, {40, 1}, {300, 45}}) {
    const Columns of{random_matrix(1, rows, cols, -1, 3)};
    const std::span<double> sums = zeroed_sums(rank.ctx, kSums, 2 * cols);
    column_sums(rank.ctx, of.x, sums.data());
    Matrix stats(2, cols);
    norm_statistics(rank.ctx, sums, double(rows), stats);
    expect_near(
        stats,
        [&](Index r, Index c) { return r == 0 ? of.mean(c) : 1 / std::sqrt(of.variance(c) + kNormEpsilon); },
        rows == 1 ? 1e-3 : kTolerance);
  }
}

TEST_P(NormStatistics, OfRunningOnesAreTheseOnes) {
  TestRank rank;
  const Matrix mean = random_matrix(2, 1, 5), variance = random_matrix(3, 1, 5, 0, 2);
  Matrix stats(2, 5);
  known_statistics(rank.ctx, mean.data(), variance.data(), stats);
  expect_near(stats, [&](Index r, Index c) {
    return r == 0 ? double(mean.at(0, c)) : 1 / std::sqrt(double(variance.at(0, c)) + kNormEpsilon);
  });
}

TEST_P(NormStatistics, RunningOnesMoveToTheNewestUnbiased) {
  TestRank rank;
  for (const Index rows : {Index(1), Index(2), Index(30)}) {
    const Columns of{random_matrix(4, rows, 6)};
    const std::span<double> sums = zeroed_sums(rank.ctx, kSums, 12);
    column_sums(rank.ctx, of.x, sums.data());
    Matrix mean = random_matrix(5, 1, 6), variance = random_matrix(6, 1, 6, 0, 2);
    const Matrix mean_before = mean.clone(), variance_before = variance.clone();
    move_running_statistics(rank.ctx, sums, double(rows), 0.1, mean.data(), variance.data());
    expect_near(mean, [&](Index, Index c) { return 0.9 * double(mean_before.at(0, c)) + 0.1 * of.mean(c); });
    expect_near(variance, [&](Index, Index c) {
      const double unbiased = rows > 1 ? of.variance(c) * double(rows) / double(rows - 1) : of.variance(c);
      return 0.9 * double(variance_before.at(0, c)) + 0.1 * unbiased;
    });
  }
}

TEST_P(NormStatistics, AConstantColumnHasNoNegativeVariance) {
  TestRank rank;
  Matrix x(50, 1), stats(2, 1);
  for (Index r = 0; r < 50; ++r) x.at(r, 0) = Real(1e4 + 1.0 / 3);
  const std::span<double> sums = zeroed_sums(rank.ctx, kSums, 2);
  column_sums(rank.ctx, x, sums.data());
  norm_statistics(rank.ctx, sums, 50, stats);
  EXPECT_EQ(non_finite_in(rank.ctx, stats), 0);
}

}  // namespace
}  // namespace atl
