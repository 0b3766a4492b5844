// Samplers that draw vertices for a whole step: the drawn vertices, the same on any number of ranks, and what
// rows then read.
#include "sampler/drawn_sets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <mutex>
#include <set>

#include "base/error.h"

namespace atl {
namespace {

const std::vector<std::string> kAll{"fastgcn",   "ladies",    "cluster", "saintVertex",
                                    "saintEdge", "saintWalk", "uniform"};

/// By layer, then destination and source: what the arc stands for. Of all ranks together.
using Weights = std::vector<std::map<std::pair<VertexId, VertexId>, float>>;

struct Steps {
  std::vector<Weights> weights;
  std::vector<std::set<VertexId>> seeds;
  std::vector<std::map<VertexId, Real>> losses;
  std::vector<double> sizes;
};

Steps steps_of(const SampledGraph& graph, int ranks, const DrawnSetsOptions& options, bool mapped) {
  constexpr int kSteps = 4;
  Steps all{std::vector<Weights>(kSteps, Weights(2)), std::vector<std::set<VertexId>>(kSteps),
            std::vector<std::map<VertexId, Real>>(kSteps), std::vector<double>(kSteps)};
  std::mutex lock;
  run_ranks(ranks, [&](Communicator& comm) {
    DrawnSets drawn(graph, comm, options);
    const DrawnGraph whole = drawn_graph(graph.prepared, false, true);
    const auto structure = mapped ? mapped_structure(whole, drawn.pool)
                                  : partitioned_structure(whole, drawn.owners, comm, drawn.pool);
    Sampler sampler(*structure,
                    {.fanout = {-1, -1}, .normalisation = options.by, .attention = options.attention},
                    drawn.sets.get());
    Batch batch;
    std::vector<VertexId> seeds;
    Reusable<Real> losses;
    for (int step = 0; step < kSteps; ++step) {
      drawn.seeds().of_step(step, seeds);
      sampler.sample(step, seeds, batch);
      drawn.seeds().weigh(seeds, losses);
      const std::lock_guard guard(lock);
      all.sizes[std::size_t(step)] = drawn.seeds().size(step);
      all.seeds[std::size_t(step)].insert(seeds.begin(), seeds.end());
      for (Index i = 0; i < losses.size(); ++i)
        all.losses[std::size_t(step)][seeds[std::size_t(i)]] = losses[i];
      for (int layer = 0; layer < 2; ++layer) {
        const Block block = batch.block(layer);
        for (Index d = 0; d < block.dst(); ++d)
          for (Index e = block.arcs.offsets[d]; e < block.arcs.offsets[d + 1]; ++e)
            all.weights[std::size_t(step)][std::size_t(layer)]
                       [{block.dst_ids[std::size_t(d)], block.src_ids[std::size_t(block.arcs.columns[e])]}] =
                (block.arcs.weights == nullptr ? 1 : block.arcs.weights[e]) *
                float(block.dst_scale == nullptr ? 1 : block.dst_scale[d]) *
                float(block.src_scale == nullptr ? 1 : block.src_scale[block.arcs.columns[e]]);
      }
    }
  });
  return all;
}

TEST(DrawnSets, AreTheSameOnAnyNumberOfRanks) {
  const SampledGraph graph({.graph = {300, 4000, 1, true}});
  for (const std::string& sampler : kAll)
    for (const auto by : {Normalisation::kMean, Normalisation::kSymmetric}) {
      SCOPED_TRACE(sampler);
      const DrawnSetsOptions options{.sampler = sampler, .by = by};
      const Steps one = steps_of(graph, 1, options, true);
      EXPECT_NE(one.seeds[0], one.seeds[1]);
      for (const int ranks : {2, 3, 5}) {
        const Steps several = steps_of(graph, ranks, options, false);
        EXPECT_EQ(several.seeds, one.seeds);
        for (std::size_t step = 0; step < one.weights.size(); ++step) {
          EXPECT_NEAR(several.sizes[step], one.sizes[step], 1e-12 * one.sizes[step]);
          ASSERT_EQ(several.losses[step].size(), one.losses[step].size());
          for (const auto& [row, counts] : one.losses[step])
            EXPECT_NEAR(several.losses[step].at(row), counts, 1e-6 * double(counts));
          for (std::size_t layer = 0; layer < 2; ++layer) {
            const auto &a = several.weights[step][layer], &b = one.weights[step][layer];
            ASSERT_EQ(a.size(), b.size()) << ranks << " ranks, step " << step << ", layer " << layer;
            for (const auto& [arc, weight] : b) ASSERT_NEAR(a.at(arc), weight, 1e-6 * std::abs(weight));
          }
        }
      }
    }
}

TEST(DrawnSets, AttentionReadsThemWithoutFactors) {
  const SampledGraph graph;
  for (const std::string& sampler : kAll) {
    SCOPED_TRACE(sampler);
    const Steps steps = steps_of(graph, 2, {.sampler = sampler, .attention = true}, false);
    for (const Weights& each : steps.weights)
      for (const auto& [arc, weight] : each.front()) EXPECT_EQ(weight, 1);
  }
}

/// ‖A[rows, u]‖² of unweighted arcs: how many of the rows read u.
std::vector<double> reads(const CsrView& graph, const std::vector<VertexId>& rows) {
  std::vector<double> counts(std::size_t(graph.rows), 0);
  for (const VertexId row : rows)
    for (Index e = graph.offsets[row]; e < graph.offsets[row + 1]; ++e)
      ++counts[std::size_t(graph.columns[e])];
  return counts;
}

/// With one vertex a layer, how often each is drawn is p.
TEST(DrawnSets, LayersDrawByHowMuchVerticesAreRead) {
  const SampledGraph graph({.graph = {60, 900, 1, false}});
  constexpr int kDraws = 20000;
  const std::vector<VertexId> seeds{3, 4, 5, 6};
  for (const std::string sampler : {"fastgcn", "ladies"}) {
    SCOPED_TRACE(sampler);
    const std::vector<double> counts =
        reads(graph.prepared.graph(), sampler == "ladies" ? seeds : graph.all_rows());
    double all = 0;
    for (std::size_t row = 0; row < counts.size(); ++row)
      all += sampler == "ladies" && row >= 3 && row <= 6 ? 0 : counts[row];
    run_ranks(1, [&](Communicator& comm) {
      DrawnSetsOptions options{.sampler = sampler};
      options.sets.layer_sizes = {1, 1};
      DrawnSets drawn(graph, comm, options);
      std::vector<int> seen(counts.size(), 0);
      for (int step = 0; step < kDraws; ++step) {
        drawn.sets->draw(step, seeds);
        for (std::size_t row = 0; row < seen.size(); ++row)
          seen[row] += drawn.sets->of_layer(1).keeps(0, VertexId(row), 0);
      }
      for (std::size_t row = 0; row < seen.size(); ++row) {
        if (sampler == "ladies" && row >= 3 && row <= 6) {
          EXPECT_EQ(seen[row], kDraws) << "a batch's own vertices are always read";
          continue;
        }
        const double p = counts[row] / all;
        EXPECT_NEAR(seen[row], kDraws * p, 4 * std::sqrt(kDraws * p * (1 - p))) << "row " << row;
      }
    });
  }
}

TEST(Ladies, WithRoomForAllReadsTheWholeGraph) {
  const SampledGraph graph;
  run_ranks(1, [&](Communicator& comm) {
    DrawnSetsOptions options{.sampler = "ladies"};
    options.sets.layer_sizes = {1000, 1000};
    DrawnSets drawn(graph, comm, options);
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    Batch some, all;
    const std::vector<VertexId> seeds = graph.seeds(1, 0, 0, 20);
    Sampler(*structure, {.fanout = {-1, -1}}, drawn.sets.get()).sample(0, seeds, some);
    Sampler(*structure, {.fanout = {-1, -1}}).sample(0, seeds, all);
    EXPECT_EQ(layers_of(some), layers_of(all));
  });
}

TEST(Ladies, ARowsWeightsHaveTheSumOfItsArcs) {
  const SampledGraph graph({.graph = {300, 6000, 1, true}});
  const CsrView whole = graph.prepared.graph();
  run_ranks(1, [&](Communicator& comm) {
    DrawnSets drawn(graph, comm, {.sampler = "ladies"});
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    Batch batch;
    Sampler(*structure, {.fanout = {-1, -1}}, drawn.sets.get()).sample(0, graph.seeds(1, 0, 0, 20), batch);
    const Block block = batch.block(1);
    int fewer = 0;
    for (Index d = 0; d < block.dst(); ++d) {
      double sum = 0;
      for (Index e = block.arcs.offsets[d]; e < block.arcs.offsets[d + 1]; ++e)
        sum += double(block.arcs.weights[e]);
      const VertexId row = batch.rows()[std::size_t(d)];
      EXPECT_NEAR(sum, degree_of(whole, row), 1e-4 * sum);
      fewer += block.arcs.offsets[d + 1] - block.arcs.offsets[d] < whole.degree(row);
    }
    EXPECT_GT(fewer, 10);
  });
}

TEST(Clusters, AnEpochTakesEachPartOnceAndDegreesAreThoseOfItsArcs) {
  const SampledGraph graph({.graph = {300, 6000, 1, true}, .partition = {"metis", 7}});
  const CsrView whole = graph.prepared.graph();
  run_ranks(1, [&](Communicator& comm) {
    DrawnSets drawn(graph, comm, {.sampler = "cluster", .by = Normalisation::kMean});
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    Sampler sampler(*structure, {.fanout = {-1, -1}, .normalisation = Normalisation::kMean},
                    drawn.sets.get());
    ASSERT_EQ(drawn.seeds().steps(), 4);  // of two parts, and one of one
    Batch batch;
    std::vector<VertexId> seeds;
    std::set<VertexId> trained;
    double training = 0;
    for (std::int64_t step = 4; step < 8; ++step) {
      drawn.seeds().of_step(step, seeds);
      sampler.sample(step, seeds, batch);
      EXPECT_EQ(drawn.seeds().size(step), double(seeds.size()));
      training += double(seeds.size());
      trained.insert(seeds.begin(), seeds.end());
      std::set<int> parts;
      for (const VertexId row : seeds) parts.insert(drawn.owners.part_of(row));
      EXPECT_LE(parts.size(), 2U);
      const Block block = batch.block(0);
      for (Index d = 0; d < block.dst(); ++d) {
        const VertexId row = batch.rows()[std::size_t(d)];
        double degree = 0;
        Index arcs = 0;
        for (Index e = whole.offsets[row]; e < whole.offsets[row + 1]; ++e)
          if (parts.contains(drawn.owners.part_of(whole.columns[e]))) degree += whole.weights[e], ++arcs;
        EXPECT_EQ(block.arcs.offsets[d + 1] - block.arcs.offsets[d], arcs);
        EXPECT_NEAR(block.dst_scale[d], 1 / degree, 1e-6);
      }
    }
    EXPECT_EQ(double(trained.size()), training) << "each vertex once";
  });
}

/// Rounded up: 1, 2 and 3 of them.
TEST(Clusters, AStepMergesATenthOfThemByDefault) {
  for (const auto& [parts, steps] : {std::pair(7, 7), {20, 10}, {21, 7}}) {
    const SampledGraph graph({.graph = {300, 6000, 1, false}, .partition = {"range", parts}});
    run_ranks(1, [&, steps = steps](Communicator& comm) {
      DrawnSetsOptions options{.sampler = "cluster"};
      options.sets.merged = 0;
      EXPECT_EQ(DrawnSets(graph, comm, options).seeds().steps(), steps);
    });
  }
}

TEST(SaintEdges, OfAGraphOfOneWayArcsAreRefused) {
  SampledGraphOptions options;
  options.transforms.symmetrise = false;
  const SampledGraph graph(options);
  run_ranks(2, [&](Communicator& comm) {
    EXPECT_THAT([&] { DrawnSets(graph, comm, {.sampler = "saintEdge"}); },
                testing::ThrowsMessage<Error>(testing::HasSubstr("set dataset.symmetrise: true")));
  });
}

}  // namespace
}  // namespace atl
