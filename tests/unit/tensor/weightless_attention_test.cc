// Attention over arcs of weight 0, which don't count: a vertex may have only such arcs, and their scores may
// be the largest. Also a LeakyReLU of slope 0.
#include "tensor/attention_layer.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(AttendWeightless);
using Layer = AttentionLayer;

const std::vector<VertexId> kLoud{0, 3};

/// A layer some of whose vertices have arcs of weight 0 alone, and whose arcs with the largest scores, by
/// `above`, weigh 0.
Layer weightless(Index dst, Index src, Index heads, Index width, double rate, Real above) {
  Layer layer(dst, src, heads, width, true, rate);
  layer.graph = weightless_graph(56, dst, src, 6, kLoud);
  for (const VertexId j : kLoud)
    for (Index h = 0; h < heads; ++h) layer.src_score.at(j, h) += above;
  return layer;
}

/// Field: weights that are 0 for all arcs of a vertex; exp of a score 100 above the others leaves nothing of
/// them.
TEST_P(AttendWeightless, ArcsOfWeight0TakeNoPart) {
  TestRank rank;
  for (const auto& [heads, width] : kHeads) {
    for (const Real above : {0, 100, 2000}) {
      for (const double rate : {0.0, 0.4}) {
        Layer layer = weightless(40, 30, heads, width, rate, above);
        layer.forward(rank.ctx);
        expect_near(
            layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 3 * kTolerance);
      }
    }
  }
}

/// Scores below 0 are all alike then; nothing may come of what isn't there.
TEST_P(AttendWeightless, TheSlopeMayBe0) {
  TestRank rank;
  for (const bool weighted : {false, true}) {
    Layer layer = weightless(40, 30, 2, 5, 0.3, 0);
    if (!weighted) layer.graph = random_graph(56, 40, 30, 6, false);
    layer.slope = 0;
    layer.forward(rank.ctx);
    expect_near(
        layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 3 * kTolerance);
  }
}

TEST_P(AttendWeightless, BlocksWithArcsOfWeight0AloneChangeNothing) {
  TestRank rank;
  Layer layer = weightless(40, 30, 4, 9, 0.3, 100);
  softmax_begin(rank.ctx, layer.softmaxes());
  for (const TestGraph& g : halves(layer.graph))
    attention_add(rank.ctx, layer.attention(g), layer.z, layer.dst_score, layer.src_score, layer.softmaxes());
  attention_finish(rank.ctx, layer.softmaxes());
  expect_near(
      layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 3 * kTolerance);
}

/// In float32, too: a vertex whose arcs all weigh 0 sends nothing, and the others what they send without
/// those arcs.
TEST_P(AttendWeightless, ArcsOfWeight0SendNoGradient) {
  TestRank rank;
  for (const Real above : {0, 100, 2000}) {
    Layer layer = weightless(9, 7, 4, 3, 0.4, above), without = weightless(9, 7, 4, 3, 0.4, above);
    TestGraph kept{9, 7, {0}, {}, {}, {}};
    for (std::size_t i = 0; i < 9; ++i) {
      for (Index e = layer.graph.offsets[i]; e < layer.graph.offsets[i + 1]; ++e) {
        if (layer.weight(e) == 0) continue;
        kept.columns.push_back(layer.graph.columns[std::size_t(e)]);
        kept.weights.push_back(layer.graph.weights[std::size_t(e)]);
      }
      kept.offsets.push_back(Index(kept.columns.size()));
    }
    without.graph = kept;
    const Matrix d_out = random_matrix(59, 9, 12);
    const Gradients g = backward(rank.ctx, layer, d_out), want = backward(rank.ctx, without, d_out);
    for (const auto& [got, right] :
         {std::pair(&g.z, &want.z), {&g.src_score, &want.src_score}, {&g.dst_score, &want.dst_score}})
      expect_near(*got, [&](Index r, Index c) { return double(right->at(r, c)); });
  }
}

#ifdef ATOLL_REAL_DOUBLE
TEST_P(AttendWeightless, BackwardIsTheGradientWithArcsOfWeight0) {
  TestRank rank;
  for (const auto& [heads, width] : {std::pair<Index, Index>{1, 3}, {4, 5}, {3, 17}}) {
    for (const Real above : {0, 800}) {
      Layer layer = weightless(9, 7, heads, width, 0.4, above);
      expect_gradients(rank.ctx, layer);
    }
  }
}
#endif

}  // namespace
}  // namespace atl
