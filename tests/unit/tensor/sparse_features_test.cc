// Sparse features, with dropout on their values, held to the reference.
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_reference;
ATOLL_EVERY_LEVEL(SparseFeatures);

/// Sparse rows without duplicate columns, as features are stored.
struct Features {
  TestGraph csr, transpose;
  std::vector<VertexId> ids;
  Dropout dropout;

  Features(Index rows, Index cols, double rate) : ids(random_ids(81, rows)) {
    std::mt19937 generator(82);
    csr = {rows, cols, {0}, {}, {}, {}};
    dropout = {rate, Draws(2, Purpose::kInputDropout, 7), ids};
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < cols && r % 4 != 3; ++c) {
        if (generator() % 4 != 0) continue;
        csr.columns.push_back(VertexId(c));
        csr.weights.push_back(float(generator() % 100) / 50 - 1);
      }
      csr.offsets.push_back(Index(csr.columns.size()));
    }
    transpose = transposed(csr);
  }
  SparseRows rows() const { return {csr.view(), transpose.view()}; }
};

/// Both products, the second in two parts.
void expect_products_of(Context& ctx, const Features& x, Index width) {
  const Index rows = x.csr.rows, cols = x.csr.cols, behind = cols / 3;
  const Matrix w = random_matrix(83, cols, width), b = random_matrix(84, rows, width),
               bias = random_matrix(85, 1, width);
  Matrix out(rows, width), gradient = random_matrix(86, cols, width);
  const Epilogue relu{.bias = bias.data(), .activation = Activation::kRelu};
  expect_reference(ctx, &sparse_gemm, &reference::sparse_gemm, x.rows(), x.dropout, w, out, relu);
  for (const auto& [first, count] : {std::pair<Index, Index>{0, behind}, {behind, cols - behind}})
    expect_reference(ctx, &sparse_gemm_at, &reference::sparse_gemm_at, x.rows(), x.dropout, b,
                     gradient.view().slice_rows(first, count), true, first);
}

TEST_P(SparseFeatures, MultiplyWithTheirDropout) {
  TestRank rank;
  for (const double rate : {0.0, 0.5}) {
    for (const Index width : {Index(1), Index(16), Index(70)}) {
      expect_products_of(rank.ctx, Features(61, 300, rate), width);
    }
  }
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
