// Every epilogue held to the reference, its backward pass to finite differences (which say something in
// double precision alone), and what dropout and NaNs do.
#include "tensor/epilogue_operands.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_reference;
ATOLL_EVERY_LEVEL(Rowwise);

/// Calls check(norm, activation, residual, rate) for every combination.
template <class F>
void every_epilogue(F&& check) {
  for (const Norm norm : {Norm::kNone, Norm::kLayer, Norm::kBatch}) {
    for (const auto activation :
         {Activation::kNone, Activation::kRelu, Activation::kElu, Activation::kLeakyRelu}) {
      for (const bool residual : {false, true}) {
        for (const double rate : {0.0, 0.4}) check(norm, activation, residual, rate);
      }
    }
  }
}

TEST_P(Rowwise, AppliesEveryEpilogue) {
  TestRank rank;
  for (const auto& [rows, cols] :
       {std::pair<Index, Index>{0, 5}, {1, 1}, {13, 7}, {5, 64}, {9, 37}, {3000, 20}}) {
    every_epilogue([&, r = rows, c = cols](Norm norm, Activation activation, bool residual, double rate) {
      EpilogueOperands o{r, c};
      const Epilogue e = o.epilogue(norm, activation, residual, rate);
      Matrix y = o.y.clone(), apart(r, c);
      expect_reference(rank.ctx, &apply, &reference::apply, e, y, y);
      apply(rank.ctx, e, o.y, apart);
      expect_same_bits(apart, y);
    });
    if (HasFatalFailure()) return;
  }
}

#ifdef ATOLL_REAL_DOUBLE
/// Σ weights · apply(y) as a function of everything that it is differentiated by.
double objective(Context& ctx, const Epilogue& e, const Matrix& input, const Matrix& weights) {
  Matrix y = input.clone();
  apply(ctx, e, y, y);
  double sum = 0;
  for (Index i = 0; i < y.rows() * y.cols(); ++i) sum += y.data()[i] * weights.data()[i];
  return sum;
}

double difference(Real* at, const std::function<double()>& f) {
  constexpr double kStep = 1e-6;
  const Real old = *at;
  *at = old + kStep;
  const double up = f();
  *at = old - kStep;
  const double down = f();
  *at = old;
  return (up - down) / (2 * kStep);
}

/// Sets batch norm's mean and 1/σ to those of y, as one rank alone would.
void take_statistics(Context& ctx, EpilogueOperands& o) {
  std::vector<double> sums(std::size_t(2 * o.cols), 0.0);
  Matrix shifted = o.y.clone();
  apply(ctx, {.bias = o.bias.data()}, shifted, shifted);
  column_sums(ctx, shifted, sums.data());
  for (Index c = 0; c < o.cols; ++c) {
    const double mean = sums[std::size_t(c)] / double(o.rows);
    const double variance = sums[std::size_t(o.cols + c)] / double(o.rows) - mean * mean;
    o.col_mean.data()[c] = mean;
    o.col_rstd.data()[c] = 1 / std::sqrt(variance + kNormEpsilon);
  }
}

TEST_P(Rowwise, BackwardIsTheGradientOfEveryEpilogue) {
  TestRank rank;
  every_epilogue([&](Norm norm, Activation activation, bool residual, double rate) {
    EpilogueOperands o{6, 11};
    const Epilogue e = o.epilogue(norm, activation, residual, rate);
    const Matrix weights = random_matrix(31, o.rows, o.cols);
    const auto f = [&] {
      if (norm == Norm::kBatch) take_statistics(rank.ctx, o);
      return objective(rank.ctx, e, o.y, weights);
    };
    f();
    Matrix y = o.y.clone(), dy = weights.clone(), d_residual(o.rows, o.cols);
    Matrix d_bias(1, o.cols), d_gain(1, o.cols), d_shift(1, o.cols);
    for (Matrix* m : {&d_residual, &d_bias, &d_gain, &d_shift}) m->zero();
    std::vector<double> sums(std::size_t(2 * o.cols), 0.0);
    apply(rank.ctx, e, y, y);
    if (norm == Norm::kBatch) column_sums_backward(rank.ctx, e, o.y, y, dy, sums.data());
    EpilogueGradient gradient{.bias = d_bias.data()};
    if (residual) gradient.residual = d_residual;
    if (norm != Norm::kNone) gradient.gain = d_gain.data(), gradient.shift = d_shift.data();
    apply_backward(rank.ctx, e, norm == Norm::kNone ? ConstMatrixView{} : o.y.view(), y, dy, gradient, sums,
                   double(o.rows));
    const auto expect_gradient = [&](Matrix& of, const Matrix& got, const char* name) {
      for (Index i = 0; i < of.rows() * of.cols(); ++i) {
        ASSERT_NEAR(got.data()[i], difference(of.data() + i, f), 2e-7)
            << name << " element " << i << " norm " << int(norm) << " activation " << int(activation);
      }
    };
    expect_gradient(o.y, dy, "input");
    expect_gradient(o.bias, d_bias, "bias");
    if (residual) expect_gradient(o.residual, d_residual, "residual");
    if (norm != Norm::kNone) expect_gradient(o.gain, d_gain, "gain");
    if (norm != Norm::kNone) expect_gradient(o.shift, d_shift, "shift");
  });
}
#endif

TEST_P(Rowwise, LayerNormsStatisticsNeedNotBeKept) {
  TestRank rank;
  EpilogueOperands o{20, 19};
  Epilogue e = o.epilogue(Norm::kLayer, Activation::kRelu, false, 0.2);
  Matrix y = o.y.clone(), with = random_matrix(32, 20, 19), without = with.clone();
  apply(rank.ctx, e, y, y);
  apply_backward(rank.ctx, e, o.y, y, with, {});
  e.row_stats = {};
  apply_backward(rank.ctx, e, o.y, y, without, {});
  expect_near(without, [&](Index r, Index c) { return double(with.at(r, c)); });
}

TEST_P(Rowwise, BackwardDoesNotDependOnThreads) {
  EpilogueOperands o{5000, 33};
  const Epilogue e = o.epilogue(Norm::kLayer, Activation::kRelu, false, 0.3);
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix y = o.y.clone(), dy = random_matrix(33, 5000, 33), gradients(3, 33);
    gradients.zero();
    apply(ctx, e, y, y);
    apply_backward(ctx, e, o.y, y, dy,
                   {.bias = gradients.data(), .gain = gradients.data() + 33, .shift = gradients.data() + 66});
    return gradients;
  });
}

TEST_P(Rowwise, DropoutDrawsAsDocumented) {
  TestRank rank;
  const Matrix x = random_matrix(41, 500, 77);
  const auto ids = random_ids(42, 500);
  const Dropout d{0.5, Draws(77, Purpose::kInputDropout, 12, 3), ids};
  Matrix out(500, 77), in_place = x.clone();
  expect_reference(rank.ctx, &dropout, &reference::dropout, d, x, out);
  dropout(rank.ctx, d, in_place, in_place);
  expect_same_bits(out, in_place);
  Index kept = 0;
  for (Index i = 0; i < 500 * 77; ++i) kept += out.data()[i] != 0 ? 1 : 0;
  EXPECT_NEAR(double(kept) / (500 * 77), 0.5, 0.01);
  dropout(rank.ctx, {}, x, out);
  expect_same_bits(out, x);
}

TEST_P(Rowwise, DropoutOfSomeRowsLeavesTheOthersAsTheyAre) {
  TestRank rank;
  const Matrix x = random_matrix(43, 90, 21), d_out = random_matrix(44, 90, 5);
  const auto ids = random_ids(42, 90);
  const Dropout d{0.5, Draws(77, Purpose::kDropout, 12, 3), ids, 0, 20, 61};
  Matrix out(90, 21), again(90, 21), product(21, 5), expected(21, 5);
  expect_reference(rank.ctx, &dropout, &reference::dropout, d, x, out);
  for (Index r : {0, 19, 61, 89})
    for (Index c = 0; c < 21; ++c) EXPECT_EQ(out.at(r, c), x.at(r, c));
  for (const auto& [first, count] : {std::pair<Index, Index>{0, 15}, {15, 10}, {25, 60}, {85, 5}})
    dropout(rank.ctx, d.of_rows(first, count), x.view().slice_rows(first, count),
            again.view().slice_rows(first, count));
  expect_same_bits(again, out);
  gemm_at(rank.ctx, x, d, d_out, product, false);
  gemm_at(rank.ctx, out, {}, d_out, expected, false);
  expect_near(product, [&](Index r, Index c) { return double(expected.at(r, c)); });
}

TEST_P(Rowwise, WhatIsWrittenOverIsNotRead) {
  TestRank rank;
  const Matrix x = random_matrix(44, 50, 23);
  Matrix fresh(50, 23);
  for (Index i = 0; i < 50 * 23; ++i) fresh.data()[i] = Real(NAN);
  expect_reference(rank.ctx, &axpby, &reference::axpby, Real(3), x, Real(0), fresh);
}

TEST_P(Rowwise, CountsWhatIsNotFinite) {
  TestRank rank;
  Matrix x = random_matrix(46, 3000, 19);
  EXPECT_EQ(non_finite_in(rank.ctx, x), 0);
  x.at(0, 0) = Real(NAN);
  x.at(1500, 18) = Real(INFINITY);
  x.at(2999, 3) = -Real(INFINITY);
  EXPECT_EQ(non_finite_in(rank.ctx, x), 3);
}

TEST_P(Rowwise, NansPassThroughTheEpilogue) {
  TestRank rank;
  for (const auto activation : {Activation::kRelu, Activation::kElu, Activation::kLeakyRelu}) {
    Matrix y = random_matrix(47, 3, 40);
    y.at(1, 5) = Real(NAN);
    apply(rank.ctx, {.activation = activation}, y, y);
    EXPECT_EQ(non_finite_in(rank.ctx, y), 1) << int(activation);
  }
}

}  // namespace
}  // namespace atl
