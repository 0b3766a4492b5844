// Every kernel that reads and writes halves, directly or by copies, compared with the same kernel on Reals.
// Operands are values that bfloat16 has, so results differ only by their own rounding.
#include <gtest/gtest.h>

#include <deque>

#include "tensor/bfloat16.h"
#include "tensor/epilogue_operands.h"

namespace atl::test {
namespace {

/// Levels that multiply pairs of halves, too.
class Halves : public EveryLevel {};
INSTANTIATE_TEST_SUITE_P(Isa, Halves, testing::Values("baseline", "avx2", "avx512", "avx512bf16", "amx"),
                         [](const auto& level) { return std::string(level.param); });

constexpr double kOneRounding = 0x1p-8,
                 kSeveral = 0x1p-4;  // of a value; norms subtract values that are near each other

/// Operands of one call, the same values on both sides; `storage` is that of those which may be in halves.
class Side {
 public:
  Side(Context& ctx, Storage storage) : ctx_(ctx), storage_(storage) {}

  /// Rows apart from each other, with NaN between them, which no result may depend on.
  MatrixView stored(unsigned seed, Index rows, Index cols) {
    const MatrixView from = exact(seed, rows, cols);
    Matrix& memory = kept_.emplace_back(1, std::max<Index>(1, rows * (cols + 3)));
    std::fill_n(memory.data(), memory.cols(), Real(NAN));
    MatrixView view(memory.data(), rows, cols + 3, storage_);
    view = view.slice_cols(0, cols);
    axpby(ctx_, 1, from, 0, view);
    return view;
  }
  MatrixView reals(unsigned seed, Index rows, Index cols) { return exact(seed, rows, cols); }
  /// Compared afterwards.
  MatrixView result(MatrixView m) {
    results_.push_back(m);
    return m;
  }
  Real* result(Real* sums, Index count) {
    results_.push_back({sums, 1, count});
    return sums;
  }
  std::vector<Matrix> results() {
    std::vector<Matrix> all;
    for (const MatrixView& each : results_) axpby(ctx_, 1, each, 0, all.emplace_back(each.rows, each.cols));
    return all;
  }

 private:
  MatrixView exact(unsigned seed, Index rows, Index cols) {
    Matrix& m = kept_.emplace_back(random_matrix(seed, rows, cols));
    for (Index i = 0; i < rows * cols; ++i) m.data()[i] = Real(to_float(to_bfloat16(float(m.data()[i]))));
    return m;
  }
  Context& ctx_;
  Storage storage_;
  std::deque<Matrix> kept_;
  std::vector<MatrixView> results_;
};

/// call(ctx, side) on both sides.
template <class F>
void expect_alike(double tolerance, F&& call) {
  TestRank rank(3);
  Side reals(rank.ctx, Storage::kReals), halves(rank.ctx, Storage::kHalves);
  call(rank.ctx, reals), call(rank.ctx, halves);
  const std::vector<Matrix> want = reals.results(), got = halves.results();
  ASSERT_EQ(want.size(), got.size());
  for (std::size_t i = 0; i < want.size(); ++i)
    for (Index e = 0; e < want[i].rows() * want[i].cols(); ++e) {
      const double w = double(want[i].data()[e]), g = double(got[i].data()[e]);
      ASSERT_NEAR(g, w, tolerance * (std::abs(w) + (tolerance >= kSeveral ? 1 : 0.05)))
          << "element " << e << " of result " << i;
    }
}

constexpr Index kWidths[] = {1, 7, 16, 40, 129, 256};

TEST_P(Halves, SumsOverNeighbours) {
  const TestGraph g = random_graph(3, 90, 70, 6, true);
  for (const Index cols : kWidths)
    for (const bool accumulate : {false, true})
      expect_alike(kOneRounding, [&](Context& ctx, Side& s) {
        const MatrixView scales = s.reals(5, 1, 90), columns = s.reals(6, 1, 70);
        Arcs arcs{g.view(), scales.data, columns.data};
        if (cols % 2 == 0) arcs.csr.weights = nullptr;
        const Epilogue e{.bias = s.reals(7, 1, cols).data, .activation = Activation::kRelu};
        spmm(ctx, arcs, s.stored(8, 70, cols), s.result(s.stored(9, 90, cols)), accumulate, e);
        spmm(ctx, arcs, s.reals(8, 70, cols), s.result(s.stored(9, 90, cols)), accumulate);
        spmm(ctx, arcs, s.stored(8, 70, cols), s.result(s.reals(9, 90, cols)), accumulate);
      });
}

TEST_P(Halves, Products) {
  for (const Index rows : {1, 50, 700})
    for (const Index cols : kWidths)
      for (const bool accumulate : {false, true})
        expect_alike(kOneRounding, [&](Context& ctx, Side& s) {
          Operands o(rows, cols);
          Epilogue e = o.epilogue(Norm::kLayer, Activation::kElu, false, 0.3);
          e.residual = s.stored(4, rows, cols);
          const MatrixView w = s.reals(2, 33, cols), back = s.reals(12, cols, 33);
          gemm(ctx, s.stored(1, rows, 33), w, s.result(s.stored(3, rows, cols)), accumulate);
          gemm(ctx, s.stored(1, rows, 33), w, s.result(s.stored(3, rows, cols)), false, e);
          gemm(ctx, s.stored(1, rows, 33), w, s.result(s.reals(3, rows, cols)), accumulate);
          gemm(ctx, s.reals(1, rows, 33), w, s.result(s.stored(3, rows, cols)), accumulate);
          gemm_bt(ctx, s.stored(1, rows, 33), back, s.result(s.stored(3, rows, cols)), accumulate, e.dropout);
        });
}

/// Sums over rows; what is dropped out is rounded again, each element by itself.
double of_rows(Index rows, double rate) {
  return rate == 0 ? 1e-4 : rows > 100 ? 4 * kSeveral : kSeveral;
}

/// Fewer inner values than a tile has, whole tiles, and more than are multiplied at a time.
TEST_P(Halves, ProductsOfAnyInnerDimension) {
  for (const Index inner : {1, 2, 31, 32, 64, 100, 1100})
    for (const Index rows : {3, 17, 300})
      expect_alike(kOneRounding, [&](Context& ctx, Side& s) {
        const MatrixView a = s.stored(1, rows, inner), w = s.reals(2, inner, 50);
        for (const bool accumulate : {false, true})
          gemm(ctx, a, w, s.result(s.reals(3, rows, 50)), accumulate);
      });
}

TEST_P(Halves, WeightGradients) {
  for (const Index rows : {0, 1, 50, 3000})
    for (const Index cols : kWidths)
      for (const double rate : {0.0, 0.4})
        expect_alike(of_rows(rows, rate), [&](Context& ctx, Side& s) {
          Operands o(rows, cols);
          const Dropout d{rate, Draws(5, Purpose::kDropout, 3, 1), o.ids};
          gemm_at(ctx, s.stored(1, rows, 37), d, s.stored(2, rows, cols), s.result(s.reals(3, 37, cols)));
          gemm_at(ctx, s.stored(1, rows, 37), d, s.reals(2, rows, cols), s.result(s.reals(3, 30, cols)), true,
                  5);
          gemm_at(ctx, s.reals(1, rows, 37), d, s.stored(2, rows, cols), s.result(s.reals(3, 37, cols)));
        });
}

TEST_P(Halves, Epilogues) {
  for (const Norm norm : {Norm::kNone, Norm::kLayer, Norm::kBatch})
    for (const Index cols : {7, 16, 40, 129, 256})  // the variance of one column is 0
      expect_alike(kSeveral, [&](Context& ctx, Side& s) {
        Operands o(60, cols);
        const Activation activation = cols % 2 == 0 ? Activation::kRelu : Activation::kElu;
        Epilogue e = o.epilogue(norm, activation, false, 0.3);
        e.residual = s.stored(1, 60, cols), e.row_stats = s.reals(2, 60, 2);
        const MatrixView x = s.stored(3, 60, cols), y = s.stored(4, 60, cols), dy = s.stored(5, 60, cols);
        apply(ctx, e, x, s.result(y));
        const MatrixView in_place = s.stored(3, 60, cols);
        apply(ctx, e, in_place, s.result(in_place));
        std::vector<double> sums(std::size_t(2 * cols), 0);
        if (norm == Norm::kBatch) column_sums_backward(ctx, e, x, y, dy, sums.data());
        const EpilogueGradient gradient{s.result(s.reals(6, 1, cols).data, cols), nullptr,
                                        s.result(s.reals(7, 1, cols).data, cols),
                                        s.result(s.stored(8, 60, cols))};
        apply_backward(ctx, e, x, y, s.result(dy), gradient, sums, 60);
      });
}

TEST_P(Halves, Rows) {
  for (const Index cols : kWidths)
    expect_alike(kOneRounding, [&](Context& ctx, Side& s) {
      const std::vector<VertexId> index{7, 3, 11, 0}, ids = random_ids(28, 12);
      gather_rows(ctx, s.stored(1, 12, cols), index.data(), s.result(s.stored(2, 4, cols)));
      gather_rows(ctx, s.reals(1, 12, cols), index.data(), s.result(s.stored(2, 4, cols)));
      scatter_add_rows(ctx, s.stored(1, 4, cols), index.data(), s.result(s.stored(2, 12, cols)));
      scatter_add_rows(ctx, s.reals(1, 4, cols), index.data(), s.result(s.stored(2, 12, cols)));
      scatter_rows(ctx, s.stored(1, 4, cols), index.data(), s.result(s.stored(2, 12, cols)));
      dropout(ctx, {0.3, Draws(5, Purpose::kDropout, 3, 1), ids}, s.stored(1, 12, cols),
              s.result(s.stored(2, 12, cols)));
      axpby(ctx, 2, s.stored(1, 12, cols), Real(0.5), s.result(s.stored(2, 12, cols)));
      scale(ctx, Real(0.3), s.result(s.stored(1, 12, cols)));
      fill(ctx, Real(0.3), s.result(s.stored(1, 12, cols)));
      scale_rows(ctx, s.reals(4, 1, 12).data, s.result(s.stored(1, 12, cols)));
      sum_rows(ctx, s.stored(1, 12, cols), s.result(s.reals(2, 1, cols).data, cols), true);
    });
}

/// Kernels that know Reals alone are given copies.
TEST_P(Halves, CopiesInReals) {
  const TestGraph g = random_graph(3, 40, 40, 4, false);
  expect_alike(2 * kOneRounding, [&](Context& ctx, Side& s) {
    const Arcs arcs{g.view(), nullptr, nullptr};
    const Softmaxes softmaxes{{s.reals(1, 40, 24), s.reals(2, 40, 24)}, s.result(s.stored(3, 40, 24))};
    softmax_begin(ctx, softmaxes);
    softmax_add(ctx, arcs, Real(0.5), s.stored(4, 40, 24), softmaxes);
    softmax_finish(ctx, softmaxes);
    EXPECT_EQ(non_finite_in(ctx, s.stored(4, 40, 24)), 0);
  });
}

TEST_P(Halves, NonFiniteOnesAreCountedWhereTheyAre) {
  TestRank rank(3);
  Matrix memory(1, 700 * 10);
  const MatrixView rows = MatrixView(memory.data(), 700, 20, Storage::kHalves).slice_cols(0, 17);
  for (const float found : {INFINITY, -INFINITY, NAN}) {
    fill(rank.ctx, Real(3e38), rows);
    rows.halves[20 * 13 + 16] = rows.halves[20 * 699] = to_bfloat16(found);
    const Index before = rank.workspace.bytes();
    EXPECT_EQ(non_finite_in(rank.ctx, rows), 2);
    EXPECT_LT(rank.workspace.bytes() - before, 700 * 17) << "no copy of them is made";
  }
}

TEST_P(Halves, FillIsExactInBothWays) {
  TestRank rank;
  Matrix memory(1, 60);
  const MatrixView x(memory.data(), 10, 6, Storage::kHalves);
  for (const double value : {0.0, 1.5, -2.0}) {
    fill(rank.ctx, Real(value), x);
    for (Index i = 0; i < 60; ++i) ASSERT_EQ(to_float(x.halves[i]), float(value));
  }
}

}  // namespace
}  // namespace atl::test
