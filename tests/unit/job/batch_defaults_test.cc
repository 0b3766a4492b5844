// Defaults of mini-batch strategies (clusters, draws, columns), and the syntax of a fanout.
#include <gtest/gtest.h>

#include "job/load.h"
#include "job/samplers.h"
#include "job/strategies/batch_options.h"
#include "job/valid_manifest.h"

namespace atl {
namespace {

Job valid(const std::vector<Override>& overrides) {
  return parse_job(kValidManifest, "m.yaml", overrides).job;
}

/// Clusters want few arcs between them, and enough of them; a graph without them is divided for its ranks.
TEST(BatchDefaults, ClustersAreDividedByTheirCut) {
  const Job cluster = valid({"strategy={kind: minibatch, minibatch: {sampler: cluster}}"});
  EXPECT_EQ(cluster.placement.partitioner.objective, "cut");
  EXPECT_EQ(default_parts(cluster), 160);
  EXPECT_EQ(default_parts(valid({"strategy={kind: minibatch, minibatch: {sampler: cluster}}",
                                 "placement.partitioner.parts=32"})),
            0);
  EXPECT_EQ(valid({"strategy={kind: minibatch, minibatch: {sampler: cluster}}",
                   "placement.partitioner.objective=volume"})
                .placement.partitioner.objective,
            "volume");
  const Job edges = valid({"strategy={kind: minibatch, minibatch: {sampler: saintEdge}}"});
  EXPECT_EQ(edges.placement.partitioner.objective, "volume");
  EXPECT_EQ(default_parts(edges), 0);
}

/// With draws of a share α of the vertices a kept neighbour stands for about 1/α.
TEST(BatchDefaults, SaintVertexDrawsAThirdOfTheVertices) {
  const auto draws = [](const std::string& options, std::int64_t vertices) {
    return set_draws(valid({"strategy={kind: minibatch, minibatch: {" + options + "}}"}), vertices);
  };
  EXPECT_EQ(draws("sampler: saintVertex", 2708), 902);
  EXPECT_EQ(draws("sampler: saintVertex", 10'000'000), 100'000);
  EXPECT_EQ(draws("sampler: saintVertex", 2), 1);
  EXPECT_EQ(draws("sampler: saintVertex, draws: 7", 2708), 7);
  EXPECT_EQ(draws("sampler: saintEdge", 2708), 2000);
}

/// Of ten columns one fewer costs accuracy; what is given is given.
TEST(BatchDefaults, DgsDropsNoColumnOfFew) {
  const auto rate = [](const std::string& options, std::int64_t columns) {
    return feature_rate(valid({"strategy={kind: dgs, dgs: {" + options + "}}"}), columns);
  };
  EXPECT_EQ(rate("", 19), 1);
  EXPECT_EQ(rate("", 20), 0.85);
  EXPECT_EQ(rate("featureRate: 0.5", 10), 0.5);
  EXPECT_EQ(rate("featureRate: 1", 100), 1);
}

/// As a batch grows: the layer nearest to the input, the last to be drawn, comes first in the list.
TEST(BatchDefaults, AFanoutIsToldFromTheSeedOn) {
  const auto told = [](const std::string& fanout) {
    return hops_text(
        valid({"strategy={kind: minibatch, minibatch: {fanout: " + fanout + "}}", "model.layers=3"}));
  };
  EXPECT_EQ(told("[15, 10, 5]"), "seed → 5 → 10 → 15");
  EXPECT_EQ(told("[-1, 10, 5]"), "seed → 5 → 10 → all");
  EXPECT_EQ(told("[]"), "seed → 10 → 10 → 10");
}

}  // namespace
}  // namespace atl
