// Sums over neighbours held to the reference.
#include "tensor/fixtures.h"
#include "tensor/reference/reference.h"

namespace atl {
namespace {
using namespace test;
using reference::expect_reference;
ATOLL_EVERY_LEVEL(Aggregate);

struct Case {
  Index rows, cols, width;
  int degree;
};
constexpr Case kCases[] = {{0, 0, 5, 3},     {3, 0, 4, 3},     {1, 1, 1, 1},    {9, 7, 1, 3},
                           {40, 30, 17, 5},  {60, 80, 64, 6},  {50, 60, 65, 4}, {33, 20, 100, 7},
                           {70, 50, 40, 20}, {64, 64, 130, 3}, {30, 10, 31, 9}, {2500, 900, 8, 6},
                           {4, 50, 33, 300}};  // the last with more arcs in a row than a chunk has

TEST_P(Aggregate, SumsScaledRowsOfNeighbours) {
  TestRank rank;
  for (const Case& shape : kCases) {
    for (int variant = 0; variant < 8; ++variant) {
      const TestGraph g = random_graph(11, shape.rows, shape.cols, shape.degree, variant & 1);
      const Matrix row_scale = random_matrix(1, 1, shape.rows), col_scale = random_matrix(2, 1, shape.cols);
      const Matrix x = random_matrix(3, shape.cols, shape.width);
      Matrix out = random_matrix(4, shape.rows, shape.width);
      const Arcs arcs{g.view(), variant & 2 ? row_scale.data() : nullptr,
                      variant & 2 ? col_scale.data() : nullptr};
      const bool accumulate = variant & 4;
      expect_reference(rank.ctx, &spmm, &reference::spmm, arcs, x, out, accumulate, Epilogue{});
      if (HasFatalFailure()) return;
    }
  }
}

/// As 1 / degree is.
TEST_P(Aggregate, RowsWithoutArcsStayZeroWhereTheirScaleIsInfinite) {
  TestRank rank;
  for (const bool weighted : {false, true})
    for (const bool accumulate : {false, true}) {
      const TestGraph g = random_graph(8, 50, 50, 4, weighted);
      Matrix scale = random_matrix(1, 1, 50), out = random_matrix(4, 50, 33);
      for (std::size_t r = 0; r < 50; ++r)
        if (g.offsets[r] == g.offsets[r + 1]) scale.data()[r] = std::numeric_limits<Real>::infinity();
      const Matrix x = random_matrix(3, 50, 33), before = out.clone();
      spmm(rank.ctx, {g.view(), scale.data(), nullptr}, x, out, accumulate);
      for (Index r = 2; r < 50; r += 3)
        for (Index c = 0; c < 33; ++c) ASSERT_EQ(out.at(r, c), accumulate ? before.at(r, c) : Real(0)) << r;
      const Epilogue relu{.activation = Activation::kRelu};
      expect_reference(rank.ctx, &spmm, &reference::spmm, Arcs{g.view(), scale.data(), nullptr}, x, out,
                       accumulate, relu);
    }
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
