// Arcs of weight 0 under every strategy: a vertex all of whose arcs weigh 0 reads nothing and sends nothing, and training stays finite.
#include <gtest/gtest.h>

#include <cmath>

#include "train/every_strategy.h"

namespace atl {
namespace {

/// As write_small_data()'s, one way, with weights: 0 for all arcs to every fifth vertex, and for some of the others.
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

TEST_P(WeightlessArcs, TrainUnderEveryStrategy) {
  TemporaryFolder folder;
  write_weightless_data(folder / "small");
  const SmallResult one = train_small(small_job(GetParam().fields), folder / "small", 1, 4);
  for (const StrategyCase& strategy : every_strategy()) {
    SCOPED_TRACE(strategy.name);
    const SmallResult got = train_small(job_of(GetParam(), strategy), folder / "small", strategy.ranks, 4);
    for (const double loss : got.losses) EXPECT_TRUE(std::isfinite(loss)) << loss;
    EXPECT_TRUE(std::isfinite(got.validation_loss));
    for (const Real weight : got.weights) ASSERT_TRUE(std::isfinite(weight));
    const bool exact = strategy.name == "graph" || strategy.name == "cagnet";
    if (exact) {
      EXPECT_NEAR(got.losses.front(), one.losses.front(), 1e-5);
    }
  }
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
