// Sums over columns of many rows and of none, and that they don't depend on threads.
#include "tensor/epilogue_operands.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_exactly, reference::expect_reference;
ATOLL_EVERY_LEVEL(ColumnSums);

TEST_P(ColumnSums, AreThoseOfTheRows) {
  TestRank rank;
  const Matrix x = random_matrix(43, 4000, 45);
  std::vector<double> sums(90, 1.0);
  Matrix total(1, 45);
  total.zero();
  expect_reference(rank.ctx, &column_sums, &reference::column_sums, x, sums.data(), std::span<const Real>());
  expect_reference(rank.ctx, &sum_rows, &reference::sum_rows, x, total.data(), true);
}

TEST_P(ColumnSums, LeaveNoRowOut) {
  TestRank rank;
  const Matrix x = random_quarters(43, 20000, 21);
  std::vector<double> sums(42, 1.0);
  Matrix total = random_quarters(44, 1, 21);
  expect_exactly(rank.ctx, &column_sums, &reference::column_sums, x, sums.data(), std::span<const Real>());
  expect_exactly(rank.ctx, &sum_rows, &reference::sum_rows, x, total.data(), true);
}

TEST_P(ColumnSums, OfNoRowsAreWhatWasThere) {
  TestRank rank;
  const Matrix none(0, 7);
  std::vector<double> sums(14, 3.0);
  Matrix total = random_matrix(48, 1, 7);
  const Matrix before = total.clone();
  column_sums(rank.ctx, none, sums.data());
  EXPECT_EQ(sums, std::vector<double>(14, 3.0));
  EpilogueOperands o{0, 7};
  column_sums_backward(rank.ctx, o.epilogue(Norm::kBatch, Activation::kRelu, false, 0), o.y, o.y, none,
                       sums.data());
  EXPECT_EQ(sums, std::vector<double>(14, 3.0));
  sum_rows(rank.ctx, none, total.data(), true);
  expect_same_bits(total, before);
  sum_rows(rank.ctx, none, total.data());
  expect_near(
      total, [](Index, Index) { return 0.0; }, 0);
}

TEST_P(ColumnSums, DoNotDependOnThreads) {
  EpilogueOperands o{6000, 21};
  const Epilogue e = o.epilogue(Norm::kBatch, Activation::kRelu, false, 0.3);
  const Matrix dy = random_matrix(49, 6000, 21);
  expect_same_on_any_threads([&](Context& ctx) {
    std::vector<double> sums(84, 0.0);
    Matrix y = o.y.clone(), all(1, 105);
    apply(ctx, e, y, y);
    column_sums(ctx, o.y, sums.data());
    column_sums_backward(ctx, e, o.y, y, dy, sums.data() + 42);
    for (Index i = 0; i < 84; ++i) all.data()[i] = Real(sums[std::size_t(i)]);
    sum_rows(ctx, o.y, all.data() + 84);
    return all;
  });
}

}  // namespace
}  // namespace atl
