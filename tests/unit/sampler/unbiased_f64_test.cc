// On average over draws, a sampled batch computes what the whole graph computes: through one layer and
// through two, under each normalisation, with and without replacement. 2,000 draws, 4 standard errors.
#include <gtest/gtest.h>

#include <cmath>

#include "graph/csr.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

double value_of(VertexId id) {
  return 1 + Draws(3, Purpose::kGenerator).uniform_at(std::uint64_t(id), 0);
}

/// y = diag(dst_scale) · A · diag(src_scale) · x.
std::vector<double> aggregate(const Block& block, const std::vector<double>& x) {
  std::vector<double> y(std::size_t(block.dst()), 0);
  for (Index d = 0; d < block.dst(); ++d) {
    for (Index e = block.arcs.offsets[d]; e < block.arcs.offsets[d + 1]; ++e) {
      const auto source = std::size_t(block.arcs.columns[e]);
      const double weight = block.arcs.weights == nullptr ? 1 : block.arcs.weights[e];
      y[std::size_t(d)] += weight * x[source] * (block.src_scale == nullptr ? 1 : block.src_scale[source]);
    }
    if (block.dst_scale != nullptr) y[std::size_t(d)] *= block.dst_scale[d];
  }
  return y;
}

std::vector<double> output_of(const Batch& batch) {
  std::vector<double> x;
  for (const VertexId id : batch.ids()) x.push_back(value_of(id));
  for (int layer = 0; layer < batch.layers(); ++layer) x = aggregate(batch.block(layer), x);
  return x;
}

/// The same of the whole graph, for all of its rows, by plain loops over the prepared graph.
std::vector<double> whole_output(const PreparedGraph& prepared, Normalisation by, std::size_t layers) {
  const CsrView a = prepared.graph();
  std::vector<double> x;
  for (const VertexId id : prepared.ids()) x.push_back(value_of(id));
  for (std::size_t layer = 0; layer < layers; ++layer) {
    std::vector<double> y(x.size(), 0);
    for (Index r = 0; r < a.rows; ++r) {
      for (Index e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
        y[std::size_t(r)] += (a.weights == nullptr ? 1 : a.weights[e]) * x[std::size_t(a.columns[e])] *
                             src_factor(by, degree_of(a, a.columns[e]));
      y[std::size_t(r)] *= dst_factor(by, degree_of(a, r));
    }
    x = y;
  }
  return x;
}

struct Case {
  const char* name;
  Normalisation by;
  bool replace, weighted;
  std::vector<int> fanout;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class Unbiased : public testing::TestWithParam<Case> {};

TEST_P(Unbiased, TheMeanOfManyDrawsIsTheWholeGraphs) {
  const Case& c = GetParam();
  const SampledGraph graph({.graph = {60, 900, 1, c.weighted}});
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  SamplingOptions options;
  options.fanout = c.fanout, options.replace = c.replace, options.normalisation = c.by;
  Sampler sampler(*structure, options);
  const std::vector<double> expected = whole_output(graph.prepared, c.by, c.fanout.size());
  constexpr int kDraws = 2000;
  std::vector<double> sum(expected.size(), 0), squares(expected.size(), 0);
  Batch batch;
  const std::vector<VertexId> rows = graph.all_rows();
  for (int step = 0; step < kDraws; ++step) {
    sampler.sample(step, rows, batch);
    const std::vector<double> y = output_of(batch);
    for (std::size_t i = 0; i < y.size(); ++i) sum[i] += y[i], squares[i] += y[i] * y[i];
  }
  int random = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double mean = sum[i] / kDraws, variance = std::max(0.0, squares[i] / kDraws - mean * mean);
    const double error = std::sqrt(variance / kDraws);
    random += error > 1e-9 * mean;
    EXPECT_NEAR(mean, expected[i], 4 * error + 1e-6 * expected[i]) << "row " << i;
  }
  EXPECT_GT(random, 30) << "rows with something left out";
}

using enum Normalisation;
INSTANTIATE_TEST_SUITE_P(
    All, Unbiased,
    testing::Values(Case{"sum", kSum, false, false, {3}}, Case{"mean", kMean, false, false, {3}},
                    Case{"symmetric", kSymmetric, false, false, {3}},
                    Case{"sum_replaced", kSum, true, false, {3}},
                    Case{"mean_weighted", kMean, false, true, {3}},
                    Case{"symmetric_weighted_replaced", kSymmetric, true, true, {4}},
                    Case{"two_layers_mean", kMean, false, false, {3, 4}},
                    Case{"two_layers_symmetric_replaced", kSymmetric, true, true, {2, 5}}),
    [](const auto& instance) { return std::string(instance.param.name); });

}  // namespace
}  // namespace atl
