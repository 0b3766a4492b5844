// Sums over neighbours against a loop over arcs in double precision.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(Aggregate);

struct Case {
  Index rows, cols, width;
  int degree;
};
constexpr Case kCases[] = {{0, 0, 5, 3},     {3, 0, 4, 3},     {1, 1, 1, 1},    {9, 7, 1, 3},
                           {40, 30, 17, 5},  {60, 80, 64, 6},  {50, 60, 65, 4}, {33, 20, 100, 7},
                           {70, 50, 40, 20}, {64, 64, 130, 3}, {30, 10, 31, 9}, {2500, 900, 8, 6}};

double sum_of(const Arcs& a, ConstMatrixView x, Index row, Index c) {
  double sum = 0;
  for (Index e = a.csr.offsets[row]; e < a.csr.offsets[row + 1]; ++e) {
    const VertexId j = a.csr.columns[e];
    sum += (a.csr.weights ? double(a.csr.weights[e]) : 1) * (a.col_scale ? double(a.col_scale[j]) : 1) *
           double(x.at(j, c));
  }
  return sum * (a.row_scale ? double(a.row_scale[row]) : 1);
}

TEST_P(Aggregate, SumsScaledRowsOfNeighbours) {
  TestRank rank;
  for (const Case& shape : kCases) {
    for (int variant = 0; variant < 8; ++variant) {
      const TestGraph g = random_graph(11, shape.rows, shape.cols, shape.degree, variant & 1);
      const Matrix row_scale = random_matrix(1, 1, shape.rows), col_scale = random_matrix(2, 1, shape.cols);
      const Matrix x = random_matrix(3, shape.cols, shape.width);
      Matrix out = random_matrix(4, shape.rows, shape.width);
      const Matrix before = out.clone();
      const Arcs arcs{g.view(), variant & 2 ? row_scale.data() : nullptr,
                      variant & 2 ? col_scale.data() : nullptr};
      const bool accumulate = variant & 4;
      spmm(rank.ctx, arcs, x, out, accumulate);
      expect_near(
          out,
          [&](Index r, Index c) {
            return sum_of(arcs, x, r, c) + (accumulate ? double(before.at(r, c)) : 0);
          },
          5 * kTolerance);
    }
  }
}

TEST_P(Aggregate, SumsRandomShapes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned seed) {
    const Index rows = sizes(400), cols = sizes(400), width = sizes(300);
    const TestGraph g = random_graph(seed, rows, cols, int(1 + sizes(12)), seed % 2 == 0);
    const Matrix x = random_matrix(3, cols, width), row_scale = random_matrix(1, 1, rows);
    Matrix out = random_matrix(4, rows, width);
    const Matrix before = out.clone();
    const Arcs arcs{g.view(), seed % 3 == 0 ? row_scale.data() : nullptr, nullptr};
    const bool accumulate = seed % 5 == 0;
    spmm(rank.ctx, arcs, x, out, accumulate);
    expect_near(
        out,
        [&](Index r, Index c) { return sum_of(arcs, x, r, c) + (accumulate ? double(before.at(r, c)) : 0); },
        20 * kTolerance);
  });
}

TEST_P(Aggregate, WorksOnColumnsOfWiderMatrices) {
  TestRank rank;
  const TestGraph g = random_graph(5, 30, 30, 4, false);
  Matrix x = random_matrix(6, 30, 50), out = random_matrix(7, 30, 60);
  const Matrix before = out.clone();
  spmm(rank.ctx, {g.view(), nullptr, nullptr}, x.view().slice_cols(3, 21), out.view().slice_cols(30, 21));
  expect_near(out, [&](Index r, Index c) {
    const bool inside = c >= 30 && c < 51;
    return inside ? sum_of({g.view(), nullptr, nullptr}, x.view().slice_cols(3, 21), r, c - 30)
                  : double(before.at(r, c));
  });
}

TEST_P(Aggregate, AppliesTheEpilogueToEveryRow) {
  TestRank rank;
  for (const Index width : {Index(7), Index(64), Index(200)}) {
    for (const auto norm : {Epilogue::Norm::kNone, Epilogue::Norm::kLayer}) {
      const TestGraph g = random_graph(8, 50, 50, 4, false);
      const Matrix x = random_matrix(9, 50, width), bias = random_matrix(10, 1, width);
      const auto ids = random_ids(3, 50);
      const Epilogue e{.bias = bias.data(),
                       .norm = norm,
                       .activation = Activation::kRelu,
                       .dropout = {0.4, Draws(1, Purpose::kDropout), ids}};
      Matrix fused(50, width), apart(50, width);
      spmm(rank.ctx, {g.view(), nullptr, nullptr}, x, fused, false, e);
      spmm(rank.ctx, {g.view(), nullptr, nullptr}, x, apart);
      apply(rank.ctx, e, apart, apart);
      expect_same_bits(fused, apart);
    }
  }
}

TEST_P(Aggregate, MasksFinishedRowsForABackwardPass) {
  TestRank rank;
  const TestGraph g = random_graph(8, 40, 40, 4, false);
  const Matrix x = random_matrix(9, 40, 33);
  const auto ids = random_ids(4, 40);
  const Dropout after{0.3, Draws(9, Purpose::kDropout, 4, 2), ids};
  Matrix out(40, 33);
  spmm(rank.ctx, {g.view(), nullptr, nullptr}, x, out, false, {.dropout = after});
  expect_near(out, [&](Index r, Index c) {
    return sum_of({g.view(), nullptr, nullptr}, x, r, c) * factor(after, r, c);
  });
}

TEST_P(Aggregate, DoesNotDependOnThreads) {
  const Matrix x = random_matrix(13, 3000, 70), scale_of = random_matrix(14, 1, 3000);
  for (const bool weighted : {false, true}) {
    const TestGraph g = random_graph(12, 3000, 3000, 9, weighted);
    for (const bool accumulate : {false, true}) {
      expect_same_on_any_threads([&](Context& ctx) {
        Matrix out = random_matrix(15, 3000, 70);
        spmm(ctx, {g.view(), scale_of.data(), scale_of.data()}, x, out, accumulate);
        return out;
      });
    }
  }
}

}  // namespace
}  // namespace atl
