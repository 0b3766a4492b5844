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

TEST_P(SparseFeatures, MultiplyAsTheDenseOnesDo) {
  TestRank rank;
  for (const double rate : {0.0, 0.5}) {
    for (const Index width : {Index(1), Index(16), Index(70)}) {
      const Features x(61, 300, rate);
      const Matrix w = random_matrix(83, 300, width), b = random_matrix(84, 61, width),
                   bias = random_matrix(85, 1, width);
      Matrix out(61, width), wanted(61, width), gradient = random_matrix(86, 300, width);
      const Epilogue relu{.bias = bias.data(), .activation = Activation::kRelu};
      sparse_gemm(rank.ctx, x.rows(), x.dropout, w, out, relu);
      gemm(rank.ctx, x.dense, w, wanted, false, relu);
      expect_near(
          out, [&](Index r, Index c) { return double(wanted.at(r, c)); }, 5 * kTolerance);
      Matrix wanted_gradient = gradient.clone();
      sparse_gemm_at(rank.ctx, x.rows(), x.dropout, b, gradient, true);
      gemm_at(rank.ctx, x.dense, b, wanted_gradient, true);
      expect_near(
          gradient, [&](Index r, Index c) { return double(wanted_gradient.at(r, c)); }, 5 * kTolerance);
    }
  }
}

}  // namespace
}  // namespace atl
