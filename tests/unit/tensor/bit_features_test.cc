// Features kept as bits, held to the reference.
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_reference;
ATOLL_EVERY_LEVEL(BitFeatures);

struct Features {
  BitMatrix bits, transposed;
  Matrix levels;

  Features(Index rows, Index cols)
      : bits(random_bits(91, rows, cols)),
        transposed(transpose(bits.view())),
        levels(random_matrix(92, 1, rows)) {}
  BitRows rows() const { return {bits.view(), transposed.view(), levels.data()}; }
};

/// Both products, the second in two parts.
void expect_products_of(Context& ctx, const Features& x, Index width, bool accumulate) {
  const Index rows = x.bits.view().rows, cols = x.bits.view().cols, behind = cols / 3;
  const Matrix w = random_matrix(93, cols, width), b = random_matrix(94, rows, width),
               bias = random_matrix(95, 1, width);
  Matrix out = random_matrix(96, rows, width), gradient = random_matrix(97, cols, width);
  const Epilogue relu{.bias = bias.data(), .activation = Activation::kRelu};
  expect_reference(ctx, &bit_gemm, &reference::bit_gemm, x.rows(), w, out, accumulate, relu);
  for (const auto& [first, count] : {std::pair<Index, Index>{0, behind}, {behind, cols - behind}})
    expect_reference(ctx, &bit_gemm_at, &reference::bit_gemm_at, x.rows(), b,
                     gradient.view().slice_rows(first, count), accumulate, first);
}

TEST_P(BitFeatures, MultiplyAndAccumulate) {
  TestRank rank;
  for (const Index width : {Index(1), Index(16), Index(64), Index(70)}) {
    for (const bool accumulate : {false, true})
      expect_products_of(rank.ctx, Features(61, 300), width, accumulate);
  }
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
