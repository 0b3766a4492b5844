// Softmax aggregation against its definition in double precision, its backward pass against finite
// differences.
#include "tensor/fixtures.h"

namespace atl {
namespace {
using namespace test;
ATOLL_EVERY_LEVEL(SoftmaxAggregate);

struct Layer {
  TestGraph graph;
  Index cols;
  Real t;
  Matrix m = random_matrix(71, graph.cols, cols, 0, 3);
  Matrix max{graph.rows, cols}, sum{graph.rows, cols}, out{graph.rows, cols};

  Arcs arcs() const { return {graph.view(), nullptr, nullptr}; }
  Softmaxes softmaxes() { return {{max, sum}, out}; }
  void forward(Context& ctx) {
    softmax_begin(ctx, softmaxes());
    softmax_add(ctx, arcs(), t, m, softmaxes());
    softmax_finish(ctx, softmaxes());
  }
  double expected(Index i, Index c) const {
    double total = 0, value = 0;
    for (Index e = graph.offsets[std::size_t(i)]; e < graph.offsets[std::size_t(i) + 1]; ++e) {
      if (!graph.weights.empty() && graph.weights[std::size_t(e)] == 0) continue;
      const double x = double(m.at(graph.columns[std::size_t(e)], c));
      const double p =
          std::exp(double(t) * x) * (graph.weights.empty() ? 1 : double(graph.weights[std::size_t(e)]));
      total += p;
      value += p * x;
    }
    return total == 0 ? 0 : value / total;
  }
};

TEST_P(SoftmaxAggregate, AveragesNeighboursColumnByColumn) {
  TestRank rank;
  for (const Index cols : {Index(1), Index(17), Index(64), Index(70)}) {
    for (const bool weighted : {false, true}) {
      Layer layer{random_graph(72, 40, 30, 5, weighted), cols, Real(0.7)};
      layer.forward(rank.ctx);
      expect_near(layer.out, [&](Index i, Index c) { return layer.expected(i, c); });
    }
  }
}

TEST_P(SoftmaxAggregate, AveragesInRandomShapes) {
  TestRank rank;
  for_random_shapes([&](RandomSizes& sizes, unsigned seed) {
    const Index rows = sizes(200), cols = sizes(200);
    Layer layer{random_graph(seed, rows, cols, 5, seed % 2 == 0), sizes(150), Real(0.7)};
    layer.forward(rank.ctx);
    expect_near(
        layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 5 * kTolerance);
  });
}

const std::vector<VertexId> kLoud{0, 3};

/// Some of whose vertices have arcs of weight 0 alone, and whose largest messages, by `above`, come over arcs
/// of weight 0.
Layer weightless(Index rows, Index cols, Index columns, Real above) {
  Layer layer{weightless_graph(72, rows, cols, 5, kLoud), columns, Real(0.7)};
  for (const VertexId j : kLoud)
    for (Index c = 0; c < columns; ++c) layer.m.at(j, c) += above;
  return layer;
}

TEST_P(SoftmaxAggregate, ArcsOfWeight0TakeNoPart) {
  TestRank rank;
  for (const Real above : {0, 200, 5000}) {
    for (const Index cols : {1, 17, 64}) {
      Layer layer = weightless(40, 30, cols, above);
      layer.forward(rank.ctx);
      expect_near(
          layer.out, [&](Index i, Index c) { return layer.expected(i, c); }, 5 * kTolerance);
    }
  }
}

/// Finite in float32, too, and 0 for sources whose arcs all weigh 0.
TEST_P(SoftmaxAggregate, ArcsOfWeight0SendNoGradient) {
  TestRank rank;
  for (const Real above : {0, 200, 5000}) {
    Layer layer = weightless(40, 30, 17, above);
    const TestGraph t = transposed(layer.graph);
    Matrix d_m(30, 17);
    layer.forward(rank.ctx);
    softmax_backward(rank.ctx, layer.arcs(), t.view(), layer.t, layer.m, layer.softmaxes().state, layer.out,
                     random_matrix(77, 40, 17), d_m);
    EXPECT_EQ(non_finite_in(rank.ctx, d_m), 0);
    for (const VertexId j : kLoud)
      for (Index c = 0; c < 17; ++c) EXPECT_EQ(d_m.at(j, c), 0);
  }
}

TEST_P(SoftmaxAggregate, RowsWithoutSourcesAreZeroAndSendNoGradient) {
  TestRank rank;
  for (const auto& [rows, cols] : {std::pair<Index, Index>{0, 0}, {0, 9}, {9, 0}}) {
    Layer layer{random_graph(76, rows, cols, 5, false), 6, Real(0.7)};
    const TestGraph t = transposed(layer.graph);
    Matrix d_m(cols, 6);
    layer.forward(rank.ctx);
    softmax_backward(rank.ctx, layer.arcs(), t.view(), layer.t, layer.m, layer.softmaxes().state, layer.out,
                     random_matrix(77, rows, 6), d_m);
    for (Matrix* m : {&layer.out, &d_m}) {
      expect_near(
          *m, [](Index, Index) { return 0.0; }, 0);
    }
  }
}

TEST_P(SoftmaxAggregate, BackwardDoesNotDependOnThreads) {
  const TestGraph graph = random_graph(73, 900, 700, 5, true), t = transposed(graph);
  const Matrix d_out = random_matrix(78, 900, 40);
  expect_same_on_any_threads([&](Context& ctx) {
    Layer layer{graph, 40, Real(0.1)};
    Matrix d_m(700, 40);
    layer.forward(ctx);
    softmax_backward(ctx, layer.arcs(), t.view(), layer.t, layer.m, layer.softmaxes().state, layer.out, d_out,
                     d_m);
    return d_m;
  });
}

TEST_P(SoftmaxAggregate, DoesNotDependOnThreads) {
  expect_same_on_any_threads([&](Context& ctx) {
    Layer layer{random_graph(73, 4000, 300, 5, false), 13, Real(0.1)};
    layer.forward(ctx);
    return std::move(layer.out);
  });
}

#ifdef ATOLL_REAL_DOUBLE
TEST_P(SoftmaxAggregate, BackwardIsTheGradient) {
  TestRank rank;
  for (const char* weights : {"none", "all above 0", "some of them 0"}) {
    Layer layer{weights == std::string("some of them 0") ? weightless_graph(74, 9, 7, 3, {2})
                                                         : random_graph(74, 9, 7, 3, *weights == 'a'),
                11, 0.8};
    const Matrix d_out = random_matrix(75, 9, 11);
    const TestGraph t = transposed(layer.graph);
    Matrix d_m(7, 11);
    layer.forward(rank.ctx);
    softmax_backward(rank.ctx, layer.arcs(), t.view(), layer.t, layer.m, layer.softmaxes().state, layer.out,
                     d_out, d_m);
    const auto f = [&] {
      layer.forward(rank.ctx);
      double sum = 0;
      for (Index i = 0; i < 99; ++i) sum += layer.out.data()[i] * d_out.data()[i];
      return sum;
    };
    for (Index i = 0; i < 77; ++i) {
      const Real old = layer.m.data()[i];
      layer.m.data()[i] = old + 1e-6;
      const double up = f();
      layer.m.data()[i] = old - 1e-6;
      const double down = f();
      layer.m.data()[i] = old;
      ASSERT_NEAR(d_m.data()[i], (up - down) / 2e-6, 1e-7) << i;
    }
  }
}
#endif

}  // namespace
}  // namespace atl
