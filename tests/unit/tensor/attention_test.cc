// Fused attention against scores, softmax and sums written out in double precision, and its backward pass
// against finite differences (in the float64 build).
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(Attend);

double leaky(double x) {
  return x < 0 ? 0.2 * x : x;
}

/// One layer's operands: `dst` rows attend to `src` rows.
struct Layer {
  Index dst, src, heads, width;
  TestGraph graph;
  double rate;
  Matrix z = random_matrix(51, src, heads* width);
  Matrix dst_score = random_matrix(52, dst, heads, -3, 3), src_score = random_matrix(53, src, heads, -3, 3);
  std::vector<VertexId> dst_ids = random_ids(54, dst), src_ids = random_ids(55, src);
  Matrix max{dst, heads}, sum{dst, heads}, out{dst, heads*width};

  Layer(Index dst_, Index src_, Index heads_, Index width_, bool weighted, double rate_)
      : dst(dst_),
        src(src_),
        heads(heads_),
        width(width_),
        graph(random_graph(56, dst, src, 6, weighted)),
        rate(rate_) {}

  Attention attention(const TestGraph& g) const {
    return {{g.view(), nullptr, nullptr}, int(heads), Real(0.2), rate, draws(), dst_ids, src_ids};
  }
  static Draws draws() { return Draws(8, Purpose::kAttentionDropout, 5, 1); }
  Softmaxes softmaxes() { return {{max, sum}, out}; }

  void forward(Context& ctx) {
    softmax_begin(ctx, softmaxes());
    attention_add(ctx, attention(graph), z, dst_score, src_score, softmaxes());
    attention_finish(ctx, softmaxes());
  }

  double expected(Index i, Index c) const {
    const Index h = c / width;
    double total = 0, value = 0, top = -1e300;
    for (const auto j : graph.view().row(i))
      top = std::max(top, leaky(double(dst_score.at(i, h)) + double(src_score.at(j, h))));
    for (Index e = graph.offsets[std::size_t(i)]; e < graph.offsets[std::size_t(i) + 1]; ++e) {
      const VertexId j = graph.columns[std::size_t(e)];
      double p = std::exp(leaky(double(dst_score.at(i, h)) + double(src_score.at(j, h))) - top);
      if (!graph.weights.empty()) p *= double(graph.weights[std::size_t(e)]);
      total += p;
      const std::uint64_t key = mix64(draws().row_key(std::uint64_t(dst_ids[std::size_t(i)])) ^
                                      std::uint64_t(src_ids[std::size_t(j)]));
      const bool dropped = Draws::bits(key, std::uint32_t(h)) < drop_threshold(rate);
      value += p * (dropped ? 0 : 1 / (1 - rate)) * double(z.at(j, c));
    }
    return total == 0 ? 0 : value / total;
  }
};

constexpr std::pair<Index, Index> kHeads[] = {{1, 1}, {1, 40},  {4, 32}, {8, 8},
                                              {3, 5}, {2, 130}, {5, 16}, {20, 3}};

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

/// The arcs from even sources, and those from odd ones.
std::array<TestGraph, 2> halves(const TestGraph& whole) {
  std::array<TestGraph, 2> parts{whole, whole};
  for (int part = 0; part < 2; ++part) {
    TestGraph& g = parts[std::size_t(part)];
    g.offsets = {0}, g.columns.clear(), g.weights.clear();
    for (std::size_t i = 0; i + 1 < whole.offsets.size(); ++i) {
      for (Index e = whole.offsets[i]; e < whole.offsets[i + 1]; ++e) {
        if (whole.columns[std::size_t(e)] % 2 != part) continue;
        g.columns.push_back(whole.columns[std::size_t(e)]);
        g.weights.push_back(whole.weights[std::size_t(e)]);
      }
      g.offsets.push_back(Index(g.columns.size()));
    }
  }
  return parts;
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

struct Gradients {
  Matrix z, src_score, dst_score;
};

Gradients backward(Context& ctx, Layer& l, const Matrix& d_out) {
  Gradients g{Matrix(l.src, l.heads * l.width), Matrix(l.src, l.heads), Matrix(l.dst, l.heads)};
  g.dst_score.zero();
  Matrix dot(l.dst, l.heads);
  const TestGraph t = transposed(l.graph);
  l.forward(ctx);
  attention_dot(ctx, int(l.heads), l.out, d_out, dot);
  attention_backward(ctx, l.attention(l.graph), t.view(), t.arc_of.data(), l.z, l.dst_score, l.src_score,
                     l.softmaxes().state, dot, d_out, g.z, g.src_score, g.dst_score);
  return g;
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
      const Matrix d_out = random_matrix(58, 7, heads * width);
      const Gradients g = backward(rank.ctx, layer, d_out);
      const auto f = [&] {
        layer.forward(rank.ctx);
        double sum = 0;
        for (Index i = 0; i < 7 * layer.heads * layer.width; ++i)
          sum += layer.out.data()[i] * d_out.data()[i];
        return sum;
      };
      const auto expect_gradient = [&](Matrix& of, const Matrix& got, const char* name) {
        for (Index i = 0; i < of.rows() * of.cols(); ++i) {
          const Real old = of.data()[i];
          of.data()[i] = old + 1e-6;
          const double up = f();
          of.data()[i] = old - 1e-6;
          const double down = f();
          of.data()[i] = old;
          ASSERT_NEAR(got.data()[i], (up - down) / 2e-6, 1e-7)
              << name << " " << i << " of " << heads << " x " << width;
        }
      };
      expect_gradient(layer.z, g.z, "z");
      expect_gradient(layer.src_score, g.src_score, "src_score");
      expect_gradient(layer.dst_score, g.dst_score, "dst_score");
    }
  }
}
#endif

TEST_P(Attend, ScoresAreProductsOfHeads) {
  TestRank rank;
  for (const auto& [heads, width] : kHeads) {
    const Matrix z = random_matrix(61, 90, heads * width), a = random_matrix(62, 1, heads * width);
    Matrix score(90, heads), d_a = random_matrix(63, 1, heads * width),
                             d_z = random_matrix(64, 90, heads * width);
    const Matrix d_score = random_matrix(65, 90, heads), d_a_before = d_a.clone(), d_z_before = d_z.clone();
    head_dot(rank.ctx, int(heads), z, a.data(), score);
    const Index w = width;
    expect_near(score, [&](Index r, Index h) {
      double sum = 0;
      for (Index c = h * w; c < (h + 1) * w; ++c) sum += double(z.at(r, c)) * double(a.data()[c]);
      return sum;
    });
    head_dot_backward(rank.ctx, int(heads), z, a.data(), d_score, d_z, d_a.data());
    expect_near(d_z, [&](Index r, Index c) {
      return double(d_z_before.at(r, c)) + double(d_score.at(r, c / w)) * double(a.data()[c]);
    });
    expect_near(d_a, [&](Index, Index c) {
      double sum = double(d_a_before.data()[c]);
      for (Index r = 0; r < 90; ++r) sum += double(d_score.at(r, c / w)) * double(z.at(r, c));
      return sum;
    });
  }
}

}  // namespace
}  // namespace atl
