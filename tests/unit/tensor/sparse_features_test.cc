// Sparse features, with dropout on their values, against the same matrix made dense by hand.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(SparseFeatures);

/// Sparse rows without duplicate columns, as features are stored.
struct Features {
  TestGraph csr, transpose;
  std::vector<VertexId> ids;
  Dropout dropout;
  Matrix dense;

  Features(Index rows, Index cols, double rate) : ids(random_ids(81, rows)), dense(rows, cols) {
    std::mt19937 generator(82);
    csr = {rows, cols, {0}, {}, {}, {}};
    dropout = {rate, Draws(2, Purpose::kInputDropout, 7), ids};
    dense.zero();
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < cols && r % 4 != 3; ++c) {
        if (generator() % 4 != 0) continue;
        csr.columns.push_back(VertexId(c));
        csr.weights.push_back(float(generator() % 100) / 50 - 1);
        dense.at(r, c) = Real(double(csr.weights.back()) * factor(dropout, r, c));
      }
      csr.offsets.push_back(Index(csr.columns.size()));
    }
    transpose = transposed(csr);
  }
  SparseRows rows() const { return {csr.view(), transpose.view()}; }
};

/// Both products, against those of the same matrix made dense.
void expect_products_of(Context& ctx, const Features& x, Index width) {
  const Index rows = x.dense.rows(), cols = x.dense.cols();
  const Matrix w = random_matrix(83, cols, width), b = random_matrix(84, rows, width),
               bias = random_matrix(85, 1, width);
  Matrix out(rows, width), wanted(rows, width), gradient = random_matrix(86, cols, width);
  const Epilogue relu{.bias = bias.data(), .activation = Activation::kRelu};
  sparse_gemm(ctx, x.rows(), x.dropout, w, out, relu);
  gemm(ctx, x.dense, w, wanted, false, relu);
  expect_near(
      out, [&](Index r, Index c) { return double(wanted.at(r, c)); }, 5 * kTolerance);
  Matrix wanted_gradient = gradient.clone();
  const Index behind = cols / 3;  // in two parts
  sparse_gemm_at(ctx, x.rows(), x.dropout, b, gradient.view().slice_rows(0, behind), true);
  sparse_gemm_at(ctx, x.rows(), x.dropout, b, gradient.view().slice_rows(behind, cols - behind), true,
                 behind);
  gemm_at(ctx, x.dense, {}, b, wanted_gradient, true);
  expect_near(
      gradient, [&](Index r, Index c) { return double(wanted_gradient.at(r, c)); }, 5 * kTolerance);
}

TEST_P(SparseFeatures, MultiplyAsTheDenseOnesDo) {
  TestRank rank;
  for (const double rate : {0.0, 0.5}) {
    for (const Index width : {Index(1), Index(16), Index(70)}) {
      expect_products_of(rank.ctx, Features(61, 300, rate), width);
    }
  }
}

TEST_P(SparseFeatures, MultiplyInRandomShapes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned seed) {
    const Features x(sizes(200), sizes(200), seed % 2 == 0 ? 0.4 : 0.0);
    expect_products_of(rank.ctx, x, sizes(100));
  });
}

TEST_P(SparseFeatures, NoRowsGiveNoGradient) {
  TestRank rank;
  const Features x(0, 20, 0.5);
  Matrix out(0, 8), gradient = random_matrix(87, 20, 8);
  sparse_gemm(rank.ctx, x.rows(), x.dropout, random_matrix(83, 20, 8), out);
  sparse_gemm_at(rank.ctx, x.rows(), x.dropout, Matrix(0, 8), gradient);
  expect_near(
      gradient, [](Index, Index) { return 0.0; }, 0);
}

TEST_P(SparseFeatures, DoNotDependOnThreads) {
  const Features x(2000, 300, 0.4);
  const Matrix w = random_matrix(83, 300, 40), b = random_matrix(84, 2000, 40);
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix out(2000, 40);
    sparse_gemm(ctx, x.rows(), x.dropout, w, out);
    return out;
  });
  expect_same_on_any_threads([&](Context& ctx) {
    Matrix out = random_matrix(86, 300, 40);
    sparse_gemm_at(ctx, x.rows(), x.dropout, b, out, true);
    return out;
  });
}

}  // namespace
}  // namespace atl
