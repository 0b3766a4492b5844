// Dense products of shapes that are cut into chunks and panels, held to the reference.
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_exactly, reference::expect_reference;
ATOLL_EVERY_LEVEL(Gemm);

struct Shape {
  Index n, k, m;
};
constexpr Shape kShapes[] = {{0, 3, 4},     {5, 0, 4},      {1, 1, 1},      {7, 5, 3},   {130, 33, 17},
                             {64, 64, 64},  {1000, 16, 40}, {700, 130, 65}, {3, 700, 9}, {9000, 20, 7},
                             {20000, 3, 5}, {50, 900, 150}, {30, 600, 500}};

TEST_P(Gemm, MultipliesChunksOfEveryShape) {
  TestRank rank;
  bool accumulate = false;
  for (const auto& [n, k, m] : kShapes) {
    accumulate = !accumulate;
    const Matrix a = random_matrix(1, n, k), w = random_matrix(2, k, m), w_t = random_matrix(3, m, k);
    const Matrix b = random_matrix(4, n, m);
    const auto ids = random_ids(7, n);
    const Dropout after{0.5, Draws(3, Purpose::kDropout, 1), ids};
    Matrix out = random_matrix(5, n, m), out_bt = out.clone(), out_at = random_matrix(6, k, m);
    expect_reference(rank.ctx, &gemm, &reference::gemm, a, w, out, accumulate, Epilogue{});
    expect_reference(rank.ctx, &gemm_bt, &reference::gemm_bt, a, w_t, out_bt, !accumulate, after);
    expect_reference(rank.ctx, &gemm_at, &reference::gemm_at, a, Dropout{}, b, out_at, accumulate, Index(0));
    if (HasFatalFailure()) return;
  }
}

/// One of 20,000 terms may be smaller than what their additions round: quarters are not rounded.
TEST_P(Gemm, LeavesNoTermOutOfAnyShape) {
  TestRank rank;
  bool accumulate = false;
  for (const auto& [n, k, m] : kShapes) {
    accumulate = !accumulate;
    const Matrix a = random_quarters(1, n, k), w = random_quarters(2, k, m), w_t = random_quarters(3, m, k);
    const Matrix b = random_quarters(4, n, m);
    const auto ids = random_ids(7, n);
    const Dropout half{0.5, Draws(3, Purpose::kDropout, 1), ids};
    Matrix out = random_quarters(5, n, m), out_bt = out.clone(), out_at = random_quarters(6, k, m);
    expect_exactly(rank.ctx, &gemm, &reference::gemm, a, w, out, accumulate, Epilogue{});
    expect_exactly(rank.ctx, &gemm_bt, &reference::gemm_bt, a, w_t, out_bt, !accumulate, half);
    expect_exactly(rank.ctx, &gemm_at, &reference::gemm_at, a, half, b, out_at, accumulate, Index(0));
    if (HasFatalFailure()) return;
  }
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

/// Whatever columns of it: one draw an element, though rows are dropped out a batch at a time.
TEST_P(Gemm, DropsManyRowsOut) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned) {
    const Index n = sizes(3000), k = 1 + sizes(300), m = 1 + sizes(40), first = sizes(k);
    const Index count = k - first - sizes(k - first);
    const Matrix a = random_matrix(1, n, k), b = random_matrix(2, n, m);
    const std::vector<VertexId> ids = random_ids(7, n);
    const Dropout half{0.5, Draws(3, Purpose::kDropout, 1, 2), ids};
    Matrix found(count, m);
    expect_reference(rank.ctx, &gemm_at, &reference::gemm_at, a, half, b, found, false, first);
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

}  // namespace
}  // namespace atl
