// Fused attention against scores, softmax and sums written out in double precision, and its backward pass
// against finite differences (in the float64 build).
#include "tensor/attention_layer.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(Attend);
using Layer = AttentionLayer;

TEST_P(Attend, WeighsNeighboursByTheSoftmaxOfTheirScores) {
  TestRank rank;
  for (const auto& [heads, width] : kHeads) {
    for (const bool weighted : {false, true}) {
      for (const double rate : {0.0, 0.4}) {
        Layer layer(40, 30, heads, width, weighted, rate);
        layer.forward(rank.ctx);
        expect_near(
            layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 3 * kTolerance);
      }
    }
  }
}

TEST_P(Attend, WeighsNeighboursInRandomShapes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned seed) {
    Layer layer(sizes(200), sizes(200), 1 + sizes(9), 1 + sizes(70), seed % 2 == 0,
                seed % 3 == 0 ? 0.3 : 0.0);
    layer.forward(rank.ctx);
    expect_near(
        layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 10 * kTolerance);
  });
}

TEST_P(Attend, BlocksOfSourcesOneAfterAnotherGiveTheSame) {
  TestRank rank;
  Layer layer(40, 30, 4, 9, true, 0.3);
  softmax_begin(rank.ctx, layer.softmaxes());
  for (const TestGraph& g : halves(layer.graph))
    attention_add(rank.ctx, layer.attention(g), layer.z, layer.dst_score, layer.src_score, layer.softmaxes());
  attention_finish(rank.ctx, layer.softmaxes());
  expect_near(
      layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 3 * kTolerance);
}

/// Rows without sources in one half, or in both, included; scores as far apart as exp can't tell.
TEST_P(Attend, HalvesOfTheSourcesPutTogetherGiveTheSame) {
  TestRank rank;
  for (const Real far : {0, 200}) {
    Layer layer(40, 30, 4, 9, true, 0.3);
    for (Index h = 0; h < layer.heads; ++h) layer.src_score.at(4, h) += far;
    Matrix max(40, 4), sum(40, 4), out(40, 36);
    const Softmaxes first = layer.softmaxes(), second{{max, sum}, out};
    const auto parts = halves(layer.graph);
    const auto fill_from = [&](const Softmaxes& s, const TestGraph& g) {
      softmax_begin(rank.ctx, s);
      attention_add(rank.ctx, layer.attention(g), layer.z, layer.dst_score, layer.src_score, s);
    };
    fill_from(first, parts[0]);
    fill_from(second, parts[1]);
    softmax_merge(rank.ctx, first, second);
    attention_finish(rank.ctx, first);
    expect_near(
        layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 3 * kTolerance);
  }
}

TEST_P(Attend, DoesNotDependOnThreads) {
  expect_same_on_any_threads([&](Context& ctx) {
    Layer layer(4000, 300, 4, 8, false, 0.5);
    layer.forward(ctx);
    return std::move(layer.out);
  });
}

TEST_P(Attend, LargeScoresDoNotOverflow) {
  TestRank rank;
  Layer layer(20, 20, 2, 4, false, 0);
  for (Index i = 0; i < 40; ++i) layer.src_score.data()[i] *= 500;
  layer.forward(rank.ctx);
  EXPECT_EQ(non_finite_in(rank.ctx, layer.out), 0);
  expect_near(
      layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 1e-3);
}

TEST_P(Attend, BackwardDoesNotDependOnThreads) {
  for (int which = 0; which < 3; ++which) {
    expect_same_on_any_threads([&](Context& ctx) {
      Layer layer(700, 300, 4, 8, false, 0.5);
      Gradients g = backward(ctx, layer, random_matrix(57, 700, 32));
      return std::move(which == 0 ? g.z : which == 1 ? g.src_score : g.dst_score);
    });
  }
}

TEST_P(Attend, RowsWithoutSourcesAreZeroAndSendNoGradient) {
  TestRank rank;
  for (const auto& [dst, src] : {std::pair<Index, Index>{0, 0}, {0, 9}, {9, 0}}) {
    Layer layer(dst, src, 4, 3, true, 0.5);
    Gradients g = backward(rank.ctx, layer, random_matrix(59, dst, 12));
    for (Matrix* m : {&layer.out, &g.z, &g.src_score, &g.dst_score}) {
      expect_near(
          *m, [](Index, Index) { return 0.0; }, 0);
    }
  }
}

#ifdef ATOLL_REAL_DOUBLE
TEST_P(Attend, BackwardIsTheGradient) {
  TestRank rank;
  for (const auto& [heads, width] : kHeads) {
    for (const double rate : {0.0, 0.4}) {
      Layer layer(7, 5, heads, width, rate == 0, rate);
      expect_gradients(rank.ctx, layer);
    }
  }
}

#endif

}  // namespace
}  // namespace atl
