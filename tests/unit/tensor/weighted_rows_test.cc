// Rows that count more or less than one: batch norm's sums where several ranks compute a vertex.
#include <gmock/gmock.h>

#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;

TEST(WeightedRows, AreSummedAsOftenAsTheyCount) {
  TestRank rank(2);
  const Matrix x = random_matrix(1, 301, 5);
  std::vector<Real> weights;
  for (Index r = 0; r < x.rows(); ++r) weights.push_back(Real(1) / Real(1 + r % 3));
  std::vector<double> sums(10, 0), expected(10, 0);
  column_sums(rank.ctx, x, sums.data(), weights);
  for (Index r = 0; r < x.rows(); ++r)
    for (Index c = 0; c < 5; ++c) {
      const double value = x.view().at(r, c), weight = weights[std::size_t(r)];
      expected[std::size_t(c)] += weight * value;
      expected[std::size_t(5 + c)] += weight * value * value;
    }
  EXPECT_THAT(sums, testing::Pointwise(testing::DoubleNear(1e-9), expected));
}

TEST(WeightedRows, AreScaledEachByItsFactor) {
  TestRank rank(2);
  Matrix x = random_matrix(1, 40, 3);
  const Matrix before = x.clone();
  std::vector<Real> factors;
  for (Index r = 0; r < x.rows(); ++r) factors.push_back(Real(r));
  scale_rows(rank.ctx, factors.data(), x);
  for (Index r = 0; r < x.rows(); ++r)
    for (Index c = 0; c < 3; ++c) EXPECT_EQ(x.view().at(r, c), before.view().at(r, c) * Real(r));
}

}  // namespace
}  // namespace atl
