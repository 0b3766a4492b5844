// Every kernel that reads and writes halves, directly or by copies, held to the reference: chunks, tiles and
// panels of all sizes, at every level.
#include <gtest/gtest.h>

#include <deque>

#include "tensor/bfloat16.h"
#include "tensor/epilogue_operands.h"
#include "tensor/reference/reference.h"

namespace atl::test {
namespace {
using reference::expect_reference;

/// Levels that multiply pairs of halves, too.
class Halves : public EveryLevel {
 protected:
  /// Stored in halves, rows apart from each other, with NaN between them, which no result may depend on.
  MatrixView stored(unsigned seed, Index rows, Index cols) {
    Matrix& memory = kept_.emplace_back(1, std::max<Index>(1, rows * (cols + 3)));
    std::fill_n(memory.data(), memory.cols(), Real(NAN));
    const MatrixView view = MatrixView(memory.data(), rows, cols + 3, Storage::kHalves).slice_cols(0, cols);
    axpby(ctx(), 1, reals(seed, rows, cols), 0, view);
    return view;
  }
  MatrixView reals(unsigned seed, Index rows, Index cols) {
    return kept_.emplace_back(random_matrix(seed, rows, cols));
  }
  Context& ctx() { return rank_.ctx; }

 private:
  TestRank rank_{3};
  std::deque<Matrix> kept_;
};
INSTANTIATE_TEST_SUITE_P(Isa, Halves, testing::Values("baseline", "avx2", "avx512", "avx512bf16", "amx"),
                         [](const auto& level) { return std::string(level.param); });

constexpr Index kWidths[] = {1, 7, 16, 40, 129, 256};

TEST_P(Halves, SumsOverNeighbours) {
  const TestGraph g = random_graph(3, 90, 70, 6, true);
  for (const Index cols : kWidths)
    for (const bool accumulate : {false, true}) {
      Arcs arcs{g.view(), reals(5, 1, 90).data, reals(6, 1, 70).data};
      if (cols % 2 == 0) arcs.csr.weights = nullptr;
      const Epilogue e{.bias = reals(7, 1, cols).data, .activation = Activation::kRelu};
      const auto sums = [&](ConstMatrixView x, MatrixView out, const Epilogue& epilogue) {
        expect_reference(ctx(), &spmm, &reference::spmm, arcs, x, out, accumulate, epilogue);
      };
      sums(stored(8, 70, cols), stored(9, 90, cols), e);
      sums(reals(8, 70, cols), stored(9, 90, cols), {});
      sums(stored(8, 70, cols), reals(9, 90, cols), {});
    }
}

TEST_P(Halves, Products) {
  for (const Index rows : {1, 50, 300})
    for (const Index cols : kWidths) {
      const bool accumulate = cols % 2 == 1;
      EpilogueOperands o(rows, cols);
      Epilogue e = o.epilogue(Norm::kLayer, Activation::kElu, false, 0.3);
      e.residual = stored(4, rows, cols);
      const MatrixView w = reals(2, 33, cols);
      const auto product = [&](ConstMatrixView a, MatrixView out, bool adds, const Epilogue& epilogue) {
        expect_reference(ctx(), &gemm, &reference::gemm, a, w, out, adds, epilogue);
      };
      product(stored(1, rows, 33), stored(3, rows, cols), accumulate, {});
      product(stored(1, rows, 33), stored(3, rows, cols), false, e);
      product(stored(1, rows, 33), reals(3, rows, cols), !accumulate, {});
      product(reals(1, rows, 33), stored(3, rows, cols), accumulate, {});
      expect_reference(ctx(), &gemm_bt, &reference::gemm_bt, stored(1, rows, 33), reals(12, cols, 33),
                       stored(3, rows, cols), accumulate, e.dropout);
    }
}

/// Fewer inner values than a tile has, whole tiles, and more than are multiplied at a time.
TEST_P(Halves, ProductsOfAnyInnerDimension) {
  for (const Index inner : {1, 2, 31, 32, 64, 100, 1100})
    for (const Index rows : {3, 17, 100})
      expect_reference(ctx(), &gemm, &reference::gemm, stored(1, rows, inner), reals(2, inner, 50),
                       reals(3, rows, 50), inner % 2 == 0, Epilogue{});
}

/// Of more rows than are paired at a time.
TEST_P(Halves, WeightGradients) {
  for (const Index rows : {0, 1, 50, 600})
    for (const Index cols : kWidths) {
      EpilogueOperands o(rows, cols);
      const double rate = cols % 2 == 0 ? 0 : 0.4;
      const Dropout d{rate, Draws(5, Purpose::kDropout, 3, 1), o.ids};
      const auto gradient = [&](ConstMatrixView a, ConstMatrixView b, MatrixView out, bool adds,
                                Index first) {
        expect_reference(ctx(), &gemm_at, &reference::gemm_at, a, d, b, out, adds, first);
      };
      gradient(stored(1, rows, 37), stored(2, rows, cols), reals(3, 37, cols), false, 0);
      gradient(stored(1, rows, 37), reals(2, rows, cols), reals(3, 30, cols), true, 5);
      gradient(reals(1, rows, 37), stored(2, rows, cols), reals(3, 37, cols), false, 0);
    }
}

TEST_P(Halves, Epilogues) {
  for (const Norm norm : {Norm::kNone, Norm::kLayer, Norm::kBatch})
    for (const Index cols : kWidths) {
      EpilogueOperands o(60, cols);
      const Activation activation = cols % 2 == 0 ? Activation::kRelu : Activation::kElu;
      Epilogue e = o.epilogue(norm, activation, false, 0.3);
      e.residual = stored(1, 60, cols), e.row_stats = reals(2, 60, 2);
      const MatrixView x = stored(3, 60, cols), y = stored(4, 60, cols), dy = stored(5, 60, cols);
      const MatrixView in_place = stored(3, 60, cols);
      expect_reference(ctx(), &apply, &reference::apply, e, in_place, in_place);
      expect_reference(ctx(), &apply, &reference::apply, e, x, y);
      std::vector<double> sums(std::size_t(2 * cols), 0);
      if (norm == Norm::kBatch)
        expect_reference(ctx(), &column_sums_backward, &reference::column_sums_backward, e, x, y, dy,
                         sums.data());
      const EpilogueGradient gradient{reals(6, 1, cols).data, nullptr, reals(7, 1, cols).data,
                                      stored(8, 60, cols)};
      expect_reference(ctx(), &apply_backward, &reference::apply_backward, e, x, y, dy, gradient,
                       std::span<const double>(sums), 60.0);
    }
}

/// Kernels that know Reals alone are given copies.
TEST_P(Halves, CopiesInReals) {
  const TestGraph g = random_graph(3, 40, 40, 4, false);
  const Arcs arcs{g.view(), nullptr, nullptr};
  const Softmaxes softmaxes{{reals(1, 40, 24), reals(2, 40, 24)}, stored(3, 40, 24)};
  const MatrixView messages = stored(4, 40, 24);
  expect_reference(ctx(), &softmax_begin, &reference::softmax_begin, softmaxes);
  expect_reference(ctx(), &softmax_add, &reference::softmax_add, arcs, Real(0.5), messages, softmaxes);
  expect_reference(ctx(), &softmax_finish, &reference::softmax_finish, softmaxes);
  EXPECT_EQ(non_finite_in(ctx(), messages), 0);
}

TEST_P(Halves, NonFiniteOnesAreCountedWhereTheyAre) {
  Matrix memory(1, 700 * 10);
  const MatrixView rows = MatrixView(memory.data(), 700, 20, Storage::kHalves).slice_cols(0, 17);
  for (const float found : {INFINITY, -INFINITY, NAN}) {
    fill(ctx(), Real(3e38), rows);
    rows.halves[20 * 13 + 16] = rows.halves[20 * 699] = to_bfloat16(found);
    const Index before = ctx().workspace->bytes();
    EXPECT_EQ(non_finite_in(ctx(), rows), 2);
    EXPECT_LT(ctx().workspace->bytes() - before, 700 * 17) << "no copy of them is made";
  }
}

TEST_P(Halves, FillIsExactInBothWays) {
  Matrix memory(1, 60);
  const MatrixView x(memory.data(), 10, 6, Storage::kHalves);
  for (const double value : {0.0, 1.5, -2.0}) {
    fill(ctx(), Real(value), x);
    for (Index i = 0; i < 60; ++i) ASSERT_EQ(to_float(x.halves[i]), float(value));
  }
}

}  // namespace
}  // namespace atl::test
