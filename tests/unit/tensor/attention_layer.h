// One layer of attention for tests of its kernels, with its result computed in double precision.
#pragma once

#include <array>

#include "tensor/fixtures.h"

namespace atl::test {

inline double leaky(double x, double slope) {
  return x < 0 ? slope * x : x;
}

/// One layer's operands: `dst` rows attend to `src` rows.
struct AttentionLayer {
  Index dst, src, heads, width;
  TestGraph graph;
  double rate;
  Real slope = Real(0.2);
  Matrix z = random_matrix(51, src, heads* width);
  Matrix dst_score = random_matrix(52, dst, heads, -3, 3), src_score = random_matrix(53, src, heads, -3, 3);
  std::vector<VertexId> dst_ids = random_ids(54, dst), src_ids = random_ids(55, src);
  Matrix max{dst, heads}, sum{dst, heads}, out{dst, heads*width};

  AttentionLayer(Index dst_, Index src_, Index heads_, Index width_, bool weighted, double rate_)
      : dst(dst_),
        src(src_),
        heads(heads_),
        width(width_),
        graph(random_graph(56, dst, src, 6, weighted)),
        rate(rate_) {}

  Attention attention(const TestGraph& g) const {
    return {{g.view(), nullptr, nullptr}, int(heads), slope, rate, draws(), dst_ids, src_ids};
  }
  static Draws draws() { return Draws(8, Purpose::kAttentionDropout, 5, 1); }
  Softmaxes softmaxes() { return {{max, sum}, out}; }

  void forward(Context& ctx) {
    softmax_begin(ctx, softmaxes());
    attention_add(ctx, attention(graph), z, dst_score, src_score, softmaxes());
    attention_finish(ctx, softmaxes());
  }

  double score(Index i, VertexId j, Index h) const {
    return leaky(double(dst_score.at(i, h)) + double(src_score.at(j, h)), double(slope));
  }
  double weight(Index arc) const {
    return graph.weights.empty() ? 1 : double(graph.weights[std::size_t(arc)]);
  }

  double expected(Index i, Index c) const {
    const Index h = c / width, first = graph.offsets[std::size_t(i)], end = graph.offsets[std::size_t(i) + 1];
    double total = 0, value = 0, top = -1e300;
    for (Index e = first; e < end; ++e)
      if (weight(e) != 0) top = std::max(top, score(i, graph.columns[std::size_t(e)], h));
    for (Index e = first; e < end; ++e) {
      if (weight(e) == 0) continue;
      const VertexId j = graph.columns[std::size_t(e)];
      const double p = weight(e) * std::exp(score(i, j, h) - top);
      total += p;
      const std::uint64_t key = mix64(draws().row_key(std::uint64_t(dst_ids[std::size_t(i)])) ^
                                      std::uint64_t(src_ids[std::size_t(j)]));
      const bool dropped = Draws::bits(key, std::uint32_t(h)) < drop_threshold(rate);
      value += p * (dropped ? 0 : 1 / (1 - rate)) * double(z.at(j, c));
    }
    return total == 0 ? 0 : value / total;
  }
};

inline constexpr std::pair<Index, Index> kHeads[] = {{1, 1}, {1, 40},  {4, 32}, {8, 8},
                                                     {3, 5}, {2, 130}, {5, 16}, {20, 3}};

/// The arcs from even sources, and those from odd sources.
inline std::array<TestGraph, 2> halves(const TestGraph& whole) {
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

struct Gradients {
  Matrix z, src_score, dst_score;
};

inline Gradients backward(Context& ctx, AttentionLayer& l, const Matrix& d_out) {
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

#ifdef ATOLL_REAL_DOUBLE
/// Checks gradients against central differences.
inline void expect_gradients(Context& ctx, AttentionLayer& layer) {
  const Matrix d_out = random_matrix(58, layer.dst, layer.heads * layer.width);
  const Gradients g = backward(ctx, layer, d_out);
  const auto f = [&] {
    layer.forward(ctx);
    double sum = 0;
    for (Index i = 0; i < layer.dst * layer.heads * layer.width; ++i)
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
          << name << " " << i << " of " << layer.heads << " x " << layer.width;
    }
  };
  expect_gradient(layer.z, g.z, "z");
  expect_gradient(layer.src_score, g.src_score, "src_score");
  expect_gradient(layer.dst_score, g.dst_score, "dst_score");
}

#endif

}  // namespace atl::test
