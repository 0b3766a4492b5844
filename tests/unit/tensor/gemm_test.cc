// Dense products against three loops in double precision.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(Gemm);

struct Shape {
  Index n, k, m;
};
constexpr Shape kShapes[] = {{0, 3, 4},     {5, 0, 4},      {1, 1, 1},      {7, 5, 3},   {130, 33, 17},
                             {64, 64, 64},  {1000, 16, 40}, {700, 130, 65}, {3, 700, 9}, {9000, 20, 7},
                             {20000, 3, 5}, {50, 900, 150}, {30, 600, 500}};

double product(ConstMatrixView a, ConstMatrixView b, Index r, Index c) {
  double sum = 0;
  for (Index i = 0; i < a.cols; ++i) sum += double(a.at(r, i)) * double(b.at(i, c));
  return sum;
}

TEST_P(Gemm, MultipliesAndAccumulates) {
  TestRank rank;
  for (const auto& [n, k, m] : kShapes) {
    for (const bool accumulate : {false, true}) {
      const Matrix a = random_matrix(1, n, k), w = random_matrix(2, k, m);
      Matrix out = random_matrix(3, n, m);
      const Matrix before = out.clone();
      gemm(rank.ctx, a, w, out, accumulate);
      expect_near(
          out,
          [&](Index r, Index c) { return product(a, w, r, c) + (accumulate ? double(before.at(r, c)) : 0); },
          5 * kTolerance);
    }
  }
}

TEST_P(Gemm, MultipliesRandomShapes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned) {
    const Index n = sizes(900), k = sizes(120), m = sizes(120);
    const Matrix a = random_matrix(1, n, k), w = random_matrix(2, k, m), w_t = random_matrix(3, m, k);
    const Matrix b = random_matrix(4, n, m);
    Matrix out(n, m), out_bt(n, m), out_at(k, m);
    gemm(rank.ctx, a, w, out);
    gemm_bt(rank.ctx, a, w_t, out_bt);
    gemm_at(rank.ctx, a, {}, b, out_at);
    expect_near(
        out, [&](Index r, Index c) { return product(a, w, r, c); }, 5 * kTolerance);
    expect_near(
        out_bt,
        [&](Index r, Index c) {
          double sum = 0;
          for (Index i = 0; i < k; ++i) sum += double(a.at(r, i)) * double(w_t.at(c, i));
          return sum;
        },
        5 * kTolerance);
    expect_near(
        out_at,
        [&](Index r, Index c) {
          double sum = 0;
          for (Index i = 0; i < n; ++i) sum += double(a.at(i, r)) * double(b.at(i, c));
          return sum;
        },
        20 * kTolerance);
  });
}

TEST_P(Gemm, AppliesTheEpilogueAsApplyDoes) {
  TestRank rank;
  const Matrix a = random_matrix(1, 300, 20), w = random_matrix(2, 20, 33), bias = random_matrix(3, 1, 33);
  const Matrix gain = random_matrix(4, 1, 33), residual = random_matrix(5, 300, 33);
  const auto ids = random_ids(6, 300);
  Matrix stats(300, 2);
  const Epilogue e{.bias = bias.data(),
                   .norm = Epilogue::Norm::kLayer,
                   .gain = gain.data(),
                   .row_stats = stats,
                   .residual = residual.view(),
                   .residual_scale = Real(0.5),
                   .activation = Activation::kElu,
                   .dropout = {0.25, Draws(1, Purpose::kDropout), ids}};
  Matrix fused(300, 33), apart(300, 33);
  gemm(rank.ctx, a, w, fused, false, e);
  gemm(rank.ctx, a, w, apart);
  apply(rank.ctx, e, apart, apart);
  expect_same_bits(fused, apart);
}

/// More panels, and more inner rows, than stay in the cache.
TEST_P(Gemm, FinishesWideRowsOnce) {
  TestRank rank;
  const Matrix a = random_matrix(1, 50, 600), w = random_matrix(2, 600, 500), bias = random_matrix(3, 1, 500);
  const Epilogue e{.bias = bias.data(), .activation = Activation::kRelu};
  Matrix fused(50, 500), apart(50, 500);
  gemm(rank.ctx, a, w, fused, false, e);
  gemm(rank.ctx, a, w, apart);
  apply(rank.ctx, e, apart, apart);
  expect_same_bits(fused, apart);
}

TEST_P(Gemm, MultipliesByTheTransposeAndMasks) {
  TestRank rank;
  for (const auto& [n, k, m] : kShapes) {
    const Matrix a = random_matrix(1, n, k), w = random_matrix(2, m, k);
    const auto ids = random_ids(7, n);
    const Dropout after{0.5, Draws(3, Purpose::kDropout, 1), ids};
    Matrix out(n, m);
    gemm_bt(rank.ctx, a, w, out, false, after);
    expect_near(
        out,
        [&](Index r, Index c) {
          double sum = 0;
          for (Index i = 0; i < k; ++i) sum += double(a.at(r, i)) * double(w.at(c, i));
          return sum * factor(after, r, c);
        },
        5 * kTolerance);
  }
}

TEST_P(Gemm, MultipliesTheTransposeOfTallMatrices) {
  TestRank rank;
  for (const auto& [n, k, m] : kShapes) {
    for (const bool accumulate : {false, true}) {
      const Matrix a = random_matrix(1, n, k), b = random_matrix(2, n, m);
      Matrix out = random_matrix(3, k, m);
      const Matrix before = out.clone();
      gemm_at(rank.ctx, a, {}, b, out, accumulate);
      expect_near(
          out,
          [&](Index r, Index c) {
            double sum = accumulate ? double(before.at(r, c)) : 0;
            for (Index i = 0; i < n; ++i) sum += double(a.at(i, r)) * double(b.at(i, c));
            return sum;
          },
          20 * kTolerance);
    }
  }
}

/// Whatever columns of it: one draw an element.
TEST_P(Gemm, DropsRowsOutAsDropoutDoes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned) {
    const Index n = sizes(3000), k = 1 + sizes(300), m = 1 + sizes(40), first = sizes(k);
    const Index count = k - first - sizes(k - first);
    const Matrix a = random_matrix(1, n, k), b = random_matrix(2, n, m);
    const std::vector<VertexId> ids = random_ids(7, n);
    const Dropout half{0.5, Draws(3, Purpose::kDropout, 1, 2), ids};
    Matrix dropped(n, k), expected(k, m), found(count, m);
    dropout(rank.ctx, half, a, dropped);
    gemm_at(rank.ctx, dropped, {}, b, expected);
    gemm_at(rank.ctx, a, half, b, found, false, first);
    expect_near(
        found, [&](Index r, Index c) { return double(expected.at(first + r, c)); }, 20 * kTolerance);
  });
}

TEST_P(Gemm, DoesNotDependOnThreads) {
  const Matrix a = random_matrix(1, 5000, 40), b = random_matrix(2, 5000, 30), w = random_matrix(3, 40, 30);
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix out(40, 30);
    gemm_at(ctx, a, {}, b, out);
    return out;
  });
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix out(5000, 30);
    gemm(ctx, a, w, out);
    return out;
  });
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix out = random_matrix(4, 5000, 40);
    gemm_bt(ctx, b, w, out, true);
    return out;
  });
  const Matrix few = random_matrix(5, 400, 500), wide = random_matrix(6, 500, 600);
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix out(400, 600), gradient = random_matrix(7, 500, 600);
    gemm(ctx, few, wide, out);
    gemm_at(ctx, few, {}, out, gradient, true);
    return gradient;
  });
}

TEST_P(Gemm, WorksOnColumnsOfWiderMatrices) {
  TestRank rank;
  const Matrix a = random_matrix(1, 90, 50), w = random_matrix(2, 40, 60);
  Matrix out = random_matrix(3, 90, 70);
  const Matrix before = out.clone();
  const ConstMatrixView left = a.view().slice_cols(5, 20),
                        right = w.view().slice_cols(30, 11).slice_rows(10, 20);
  gemm(rank.ctx, left, right, out.view().slice_cols(1, 11));
  expect_near(out, [&](Index r, Index c) {
    return c >= 1 && c < 12 ? product(left, right, r, c - 1) : double(before.at(r, c));
  });
}

}  // namespace
}  // namespace atl
