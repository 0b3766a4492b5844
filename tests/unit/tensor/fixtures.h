// Shared by tests of kernels: a rank's context, random operands and shapes, and the repetition of each test
// for every instruction set of the machine. What kernels compute is in reference/.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tensor/cpu/simd/loops.h"
#include "tensor/kernels.h"

namespace atl::test {

/// Runs with the loops of the instruction set in its parameter; skipped where the machine doesn't have it.
class EveryLevel : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const simd::Table* table = simd::table_named(GetParam());
    if (table == nullptr) GTEST_SKIP() << "this machine cannot run " << GetParam();
    simd::use(*table);
  }
};
#define ATOLL_EVERY_LEVEL(Suite)                                                      \
  class Suite : public atl::test::EveryLevel {};                                      \
  INSTANTIATE_TEST_SUITE_P(Isa, Suite, testing::Values("baseline", "avx2", "avx512"), \
                           [](const auto& level) { return std::string(level.param); })

struct TestRank {
  ThreadPool pool;
  Workspace workspace;
  Context ctx;
  explicit TestRank(int threads = 2) : pool(threads) { ctx = {Device::kCpu, &pool, &workspace}; }
};

/// The number that a kernel writes.
template <class F>
double left_by(F&& kernel) {
  double number = 0;
  kernel(&number);
  return number;
}
inline double non_finite_in(Context& ctx, ConstMatrixView x) {
  return left_by([&](double* count) { count_non_finite(ctx, x, count); });
}
template <class F>
LabelCounts counted_by(F&& kernel) {
  LabelCounts counts;
  kernel(&counts);
  return counts;
}

/// Uniform in [low, high).
inline Matrix random_matrix(unsigned seed, Index rows, Index cols, double low = -1, double high = 1) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  Matrix m(rows, cols);
  for (Index i = 0; i < rows * cols; ++i) m.data()[i] = Real(uniform(generator));
  return m;
}

/// Quarters in [−1, 1]: sums of thousands of their products are exact in any order.
inline Matrix random_quarters(unsigned seed, Index rows, Index cols) {
  Matrix m = random_matrix(seed, rows, cols);
  for (Index i = 0; i < rows * cols; ++i) m.data()[i] = std::round(m.data()[i] * 4) / 4;
  return m;
}

struct TestGraph {
  Index rows = 0, cols = 0;
  std::vector<Index> offsets{0};
  std::vector<VertexId> columns;
  std::vector<float> weights;
  std::vector<Index> arc_of;  // of a transpose: the number of each arc in the original

  CsrView view() const {
    return {rows, cols, offsets.data(), columns.data(), weights.empty() ? nullptr : weights.data()};
  }
};

/// Every third row is empty; row 1 has twenty times the mean degree.
inline TestGraph random_graph(unsigned seed, Index rows, Index cols, int degree, bool weighted) {
  std::mt19937 generator(seed);
  TestGraph g{rows, cols, {0}, {}, {}, {}};
  for (Index r = 0; r < rows; ++r) {
    int arcs = r % 3 == 2 || cols == 0 ? 0 : int(generator() % unsigned(2 * degree + 1));
    if (r == 1 && cols > 0) arcs = 20 * degree;
    for (int e = 0; e < arcs; ++e) {
      g.columns.push_back(VertexId(generator() % unsigned(cols)));
      if (weighted) g.weights.push_back(0.25f + float(generator() % 1000) / 500);
    }
    g.offsets.push_back(Index(g.columns.size()));
  }
  return g;
}

inline TestGraph transposed(const TestGraph& g) {
  TestGraph t{g.cols, g.rows, {0}, {}, {}, {}};
  for (Index c = 0; c < g.cols; ++c) {
    for (Index r = 0; r < g.rows; ++r) {
      for (Index e = g.offsets[std::size_t(r)]; e < g.offsets[std::size_t(r) + 1]; ++e) {
        if (g.columns[std::size_t(e)] != c) continue;
        t.columns.push_back(VertexId(r));
        t.arc_of.push_back(e);
        if (!g.weights.empty()) t.weights.push_back(g.weights[std::size_t(e)]);
      }
    }
    t.offsets.push_back(Index(t.columns.size()));
  }
  return t;
}

/// A weighted graph with arcs of weight 0: all arcs of every fourth row (including row 1, the long one), and
/// all from the sources in `loud`, whose scores a test may raise above all others.
inline TestGraph weightless_graph(unsigned seed, Index rows, Index cols, int degree,
                                  const std::vector<VertexId>& loud) {
  TestGraph g = random_graph(seed, rows, cols, degree, true);
  for (Index r = 0; r < rows; ++r)
    for (Index e = g.offsets[std::size_t(r)]; e < g.offsets[std::size_t(r) + 1]; ++e)
      if (r % 4 == 1 || std::ranges::count(loud, g.columns[std::size_t(e)]) > 0)
        g.weights[std::size_t(e)] = 0;
  return g;
}

/// Random sizes 0 … most, the same every time: small ones often, and those at which rows end within a
/// register or a line, or fill it.
class RandomSizes {
 public:
  explicit RandomSizes(unsigned seed) : generator_(seed) {}
  Index operator()(Index most) {
    static constexpr Index kEnds[] = {0, 1, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    const Index end = kEnds[generator_() % std::size(kEnds)];
    if (generator_() % 2 == 0 && end <= most) return end;
    const Index limit = most >> (generator_() % 8);
    return Index(generator_() % std::uint64_t(limit + 1));
  }

 private:
  std::mt19937 generator_;
};

/// Runs check(sizes, seed) for a number of seeds, and names the one that fails.
template <class F>
void for_random_shapes(F&& check) {
  for (unsigned seed = 100; seed < 120; ++seed) {
    SCOPED_TRACE(testing::Message() << "shape of seed " << seed);
    RandomSizes sizes(seed);
    check(sizes, seed);
  }
}

inline BitMatrix random_bits(unsigned seed, Index rows, Index cols) {
  std::mt19937 generator(seed);
  BitMatrix bits(rows, cols);
  for (Index r = 0; r < rows; ++r) {
    for (Index c = 0; c < cols; ++c)
      if (generator() % 3 == 0) bits.set(r, c);
  }
  return bits;
}

inline std::vector<VertexId> random_ids(unsigned seed, Index count) {
  std::mt19937 generator(seed);
  std::vector<VertexId> ids(static_cast<std::size_t>(count));
  for (VertexId& id : ids) id = VertexId(generator() % 1000000);
  return ids;
}

inline constexpr double kTolerance = sizeof(Real) == 8 ? 1e-12 : 2e-5;

/// |got − want| ≤ tolerance · (1 + |want|) for each element.
inline void expect_near(ConstMatrixView got, const std::function<double(Index, Index)>& want,
                        double tolerance = kTolerance) {
  for (Index r = 0; r < got.rows; ++r) {
    for (Index c = 0; c < got.cols; ++c) {
      const double w = want(r, c);
      ASSERT_NEAR(double(got.at(r, c)), w, tolerance * (1 + std::abs(w))) << "row " << r << " column " << c;
    }
  }
}

inline void expect_same_bits(const Matrix& a, const Matrix& b) {
  ASSERT_EQ(a.bytes(), b.bytes());
  const bool same = a.bytes() == 0 || std::memcmp(a.data(), b.data(), std::size_t(a.bytes())) == 0;
  EXPECT_TRUE(same);
}

/// Checks that compute(ctx) gives the same bits on 1, 2, 3 and 8 threads, and again on the same context.
inline void expect_same_on_any_threads(const std::function<Matrix(Context&)>& compute) {
  TestRank one(1);
  const Matrix first = compute(one.ctx);
  expect_same_bits(first, compute(one.ctx));
  for (int threads : {2, 3, 8}) {
    TestRank rank(threads);
    expect_same_bits(first, compute(rank.ctx));
  }
}

}  // namespace atl::test
