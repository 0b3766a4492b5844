// That references notice what is wrong: an element that is off by little, a term that is left out, an operand
// that is written.
#include "tensor/reference/reference.h"

#include <gtest/gtest-spi.h>

#include "tensor/cases/trial.h"

namespace atl::test {
namespace {
using reference::Near;

void add_wrongly(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  axpby(ctx, a, x, b, out);
  out.at(1, 2) += Real(1e-5);
}
void add_and_write_beside(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  axpby(ctx, a, x, b, out);
  out.data[-1] = 0;
}
void add_and_write_an_operand(Context& ctx, Real a, ConstMatrixView x, Real b, MatrixView out) {
  axpby(ctx, a, x, b, out);
  const_cast<Real*>(x.data)[0] = 7;
}

using Axpby = decltype(axpby)*;
void try_axpby(Axpby kernel) {
  TestRank rank;
  Trial t(rank.ctx, 2);
  t.alike();
  const MatrixView x = t.matrix(4, 8);
  t.expect(kernel, &reference::axpby, Real(0.7), x, Real(-1.3), t.matrix(4, 8));
}

TEST(Reference, NoticesWhatIsWrong) {
  try_axpby(&axpby);
  EXPECT_FATAL_FAILURE(try_axpby(&add_wrongly), "row 1 column 2");
  EXPECT_FATAL_FAILURE(try_axpby(&add_and_write_beside), "mayn't write");
  EXPECT_FATAL_FAILURE(try_axpby(&add_and_write_an_operand), "mayn't write");
}

/// In whatever order it is added up, in Reals.
TEST(Reference, KnowsHowFarASumMayBeOff) {
  const Matrix x = random_matrix(5, 1, 3000, 0.5, 1);
  reference::Sum sum;
  for (Index i = 0; i < 3000; ++i) sum += double(x.at(0, i));
  Real upwards = 0, downwards = 0, without_one = 0;
  for (Index i = 0; i < 3000; ++i) upwards += x.at(0, i), downwards += x.at(0, 2999 - i);
  for (Index i = 1; i < 3000; ++i) without_one += x.at(0, i);
  const Near total = sum.total();
  EXPECT_NEAR(double(upwards), total.value, total.error);
  EXPECT_NEAR(double(downwards), total.value, total.error);
  EXPECT_GT(std::abs(double(without_one) - total.value), total.error);
}

/// Of values that are near each other, subtracted: the error stays when the value goes.
TEST(Reference, PassesErrorsOn) {
  const Near third = Near(1) / 3, rest = (third - 1.0 / 3) * 1000;
  EXPECT_NEAR(double(Real(1) / Real(3)) - 1.0 / 3, rest.value / 1000, rest.error / 1000);
  EXPECT_LT(rest.error, 1e4 * reference::kRounding);
  EXPECT_EQ((Near(0) * third).error, 0) << "what is dropped out is exactly 0";
}

}  // namespace
}  // namespace atl::test
