// That references notice what is wrong: an element that is off by little, a term that is left out, an operand
// that is written; other bits than the CPU's, and a sum of quarters that isn't exact.
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
  t.may_differ(kFunctions);
  t.expect(kernel, &reference::axpby, Real(0.7), x, Real(-1.3), t.matrix(4, 8));
}

TEST(Reference, NoticesWhatIsWrong) {
  try_axpby(&axpby);
  EXPECT_FATAL_FAILURE(try_axpby(&add_wrongly), "row 1 column 2");
  EXPECT_FATAL_FAILURE(try_axpby(&add_and_write_beside), "mayn't write");
  EXPECT_FATAL_FAILURE(try_axpby(&add_and_write_an_operand), "mayn't write");
}

/// Its calls, one of which is beside the other, leave other bits.
void scale_now_so_now_so(Context& ctx, Real factor, MatrixView x) {
  static bool first = false;
  first = !first;
  scale(ctx, factor, x);
  if (first) x.at(0, 0) = std::nextafter(x.at(0, 0), Real(2));
}
void try_scale(decltype(scale)* kernel) {
  TestRank rank;
  Trial t(rank.ctx, 2);
  t.alike();
  t.expect(kernel, &reference::scale, Real(0.7), t.matrix(4, 8));
}

TEST(Reference, NoticesOtherBitsThanTheCpus) {
  try_scale(&scale);
  EXPECT_FATAL_FAILURE(try_scale(&scale_now_so_now_so), "aren't the same: row 0 column 0");
}

/// By less than its additions may round, were they to round.
void sum_nearly(Context& ctx, ConstMatrixView x, Real* out, bool accumulate) {
  sum_rows(ctx, x, out, accumulate);
  out[1] = std::nextafter(out[1], Real(100));
}
void try_sum(decltype(sum_rows)* kernel, Operands operands) {
  TestRank rank;
  Trial t(rank.ctx, 2, operands);
  t.may_differ(kSums);
  t.expect(kernel, &reference::sum_rows, t.values(300, 4), t.reals(4), false);
}

TEST(Reference, KnowsSumsOfQuartersToTheBit) {
  try_sum(&sum_rows, Operands::kQuarters);
  try_sum(&sum_nearly, Operands::kAny);
  EXPECT_FATAL_FAILURE(try_sum(&sum_nearly, Operands::kQuarters), "and not");
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
