// Features kept as bits, against the same matrix made dense by hand.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(BitFeatures);

struct Features {
  BitMatrix bits, transposed;
  Matrix levels, dense;

  Features(Index rows, Index cols)
      : bits(random_bits(91, rows, cols)),
        transposed(transpose(bits.view())),
        levels(random_matrix(92, 1, rows)),
        dense(rows, cols) {
    for (Index r = 0; r < rows; ++r) {
      for (Index c = 0; c < cols; ++c) dense.at(r, c) = bits.view().at(r, c) ? levels.at(0, r) : Real(0);
    }
  }
  BitRows rows() const { return {bits.view(), transposed.view(), levels.data()}; }
};

void expect_products_of(Context& ctx, const Features& x, Index width, bool accumulate) {
  const Index rows = x.dense.rows(), cols = x.dense.cols();
  const Matrix w = random_matrix(93, cols, width), b = random_matrix(94, rows, width),
               bias = random_matrix(95, 1, width);
  Matrix out = random_matrix(96, rows, width), gradient = random_matrix(97, cols, width);
  Matrix wanted = out.clone(), wanted_gradient = gradient.clone();
  const Epilogue relu{.bias = bias.data(), .activation = Activation::kRelu};
  bit_gemm(ctx, x.rows(), w, out, accumulate, relu);
  gemm(ctx, x.dense, w, wanted, accumulate, relu);
  expect_near(
      out, [&](Index r, Index c) { return double(wanted.at(r, c)); }, 5 * kTolerance);
  const Index behind = cols / 3;  // in two parts
  bit_gemm_at(ctx, x.rows(), b, gradient.view().slice_rows(0, behind), accumulate);
  bit_gemm_at(ctx, x.rows(), b, gradient.view().slice_rows(behind, cols - behind), accumulate, behind);
  gemm_at(ctx, x.dense, {}, b, wanted_gradient, accumulate);
  expect_near(
      gradient, [&](Index r, Index c) { return double(wanted_gradient.at(r, c)); }, 5 * kTolerance);
}

TEST_P(BitFeatures, MultiplyAsTheDenseOnesDo) {
  TestRank rank;
  for (const Index width : {Index(1), Index(16), Index(64), Index(70)}) {
    for (const bool accumulate : {false, true})
      expect_products_of(rank.ctx, Features(61, 300), width, accumulate);
  }
}

TEST_P(BitFeatures, MultiplyInRandomShapes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned seed) {
    const Features x(sizes(200), sizes(200));
    expect_products_of(rank.ctx, x, sizes(100), seed % 2 == 0);
  });
}

TEST_P(BitFeatures, DontDependOnTheNumberOfThreads) {
  const Features x(1500, 200);
  const Matrix w = random_matrix(98, 200, 48), b = random_matrix(99, 1500, 48);
  std::vector<Matrix> outs, gradients;
  for (const int threads : {1, 3}) {
    TestRank rank(threads);
    outs.emplace_back(1500, 48);
    gradients.emplace_back(200, 48);
    bit_gemm(rank.ctx, x.rows(), w, outs.back());
    bit_gemm_at(rank.ctx, x.rows(), b, gradients.back());
  }
  EXPECT_EQ(0, std::memcmp(outs[0].data(), outs[1].data(), std::size_t(outs[0].bytes())));
  EXPECT_EQ(0, std::memcmp(gradients[0].data(), gradients[1].data(), std::size_t(gradients[0].bytes())));
}

TEST_P(BitFeatures, NoRowsGiveNoGradient) {
  TestRank rank;
  const Features x(0, 20);
  Matrix out(0, 8), gradient = random_matrix(87, 20, 8);
  bit_gemm(rank.ctx, x.rows(), random_matrix(83, 20, 8), out);
  bit_gemm_at(rank.ctx, x.rows(), Matrix(0, 8), gradient);
  expect_near(
      gradient, [](Index, Index) { return 0.0; }, 0);
}

}  // namespace
}  // namespace atl
