// Arcs of weight 0 under every strategy: a vertex with only such arcs reads nothing and sends nothing.
// Training stays finite, and an exact strategy's equals that of one rank.
#include <gtest/gtest.h>

#include <cmath>

#include "job/strategies.h"
#include "train/every_model.h"

namespace atl {
namespace {

/// As write_small_data()'s, one way, with weights: 0 for all arcs to every fifth vertex, and for some of the
/// others.
void write_weightless_data(const std::filesystem::path& place) {
  constexpr Index kVertices = 60, kFeatures = 6;
  WriterOptions options;
  options.name = "small";
  options.weighted = true;
  options.threads = 1;
  DatasetWriter writer(place, options);
  writer.set_vertices(kVertices);
  const Draws draws(7, Purpose::kGenerator);
  std::vector<VertexId> src, dst;
  std::vector<float> weights, x;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> split;
  for (Index i = 1; i < kVertices; ++i) {
    for (Index j = 1; j < kVertices; ++j) {
      const double draw = draws.uniform_at(std::uint64_t(i), std::uint64_t(j));
      if (i == j || draw >= 0.08) continue;
      src.push_back(VertexId(i)), dst.push_back(VertexId(j));
      weights.push_back(j % 5 == 0 || draw < 0.02 ? 0.0F : float(0.5 + draw));
    }
  }
  writer.add_arcs(src, dst, weights, {});
  for (std::size_t i = 0; i < std::size_t(kVertices * kFeatures); ++i)
    x.push_back(float(2 * draws.uniform_at(6000, i) - 1));
  writer.begin_features(kFeatures);
  writer.add_features({x.data(), kVertices, kFeatures}, {});
  for (Index v = 0; v < kVertices; ++v) {
    labels.push_back(std::int32_t(draws.bits64_at(8000, std::uint64_t(v)) % 3));
    split.push_back(std::uint8_t(1 + v % 3));
  }
  writer.set_labels(labels, 3, {});
  writer.add_split("default", {split.data(), kVertices, 1}, "small");
  writer.finish();
}

class WeightlessArcs : public testing::TestWithParam<SmallCase> {};

void expect_same(const SmallResult& got, const SmallResult& expected) {
  ASSERT_EQ(got.losses.size(), expected.losses.size());
  for (std::size_t i = 0; i < got.losses.size(); ++i)
    EXPECT_NEAR(got.losses[i], expected.losses[i], 1e-4) << i;
  EXPECT_NEAR(got.validation_loss, expected.validation_loss, 1e-4);
}

TEST_P(WeightlessArcs, TrainUnderEveryStrategy) {
  TemporaryFolder folder;
  write_weightless_data(folder / "small");
  const auto trained = [&](const StrategyCase& strategy) {
    return train_small(job_of(GetParam(), strategy), folder / "small", strategy.ranks, 4);
  };
  const SmallResult one = trained({"graph", 1, {}});
  std::vector<StrategyCase> all = every_strategy();
  all.push_back({"granndis_whole",
                 4,
                 {"strategy.kind=granndis", "strategy.granndis={maxHop: 0, fanout: -1}",
                  "placement.ranksPerServer=2"}});
  int exact = 0;
  for (const StrategyCase& strategy : all) {
    SCOPED_TRACE(strategy.name);
    const SmallResult got = trained(strategy);
    for (const double loss : got.losses) EXPECT_TRUE(std::isfinite(loss)) << loss;
    EXPECT_TRUE(std::isfinite(got.validation_loss));
    for (const Real weight : got.weights) ASSERT_TRUE(std::isfinite(weight));
    const Job job = job_of(GetParam(), strategy);
    const StrategyInfo& info = *job.strategy.row;
    if (info.exact == nullptr || !info.exact(job) || job.wire() == Precision::kBFloat16) continue;
    expect_same(got, one);
    ++exact;
  }
  EXPECT_EQ(exact, 4) << "graph, cagnet with and without replication, granndis with all that a server reads";
}

/// By columns a row's scores and sums are made whole by others' parts of them.
TEST_P(WeightlessArcs, AreTheSameByColumnsAsByRows) {
  TemporaryFolder folder;
  write_weightless_data(folder / "small");
  const auto trained = [&](const std::string& kind) {
    const StrategyCase two{
        kind,
        2,
        {"strategy.kind=" + kind, "strategy." + kind + ".batchSize=7", "placement.partitioner=hash"}};
    return train_small(job_of(GetParam(), two), folder / "small", 2, 4);
  };
  expect_same(trained("p3"), trained("minibatch"));
}

INSTANTIATE_TEST_SUITE_P(Models, WeightlessArcs,
                         testing::Values(SmallCase{"gat",
                                                   {"model.kind=gat", "dataset.selfLoops=remove",
                                                    "model.options={heads: 4, outputHeads: 2}"}},
                                         SmallCase{"resgcn_softmax",
                                                   {"model.kind=resgcn", "model.norm=layer",
                                                    "model.options={aggregator: softmax}"}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
