// Batches: the same whoever makes them, with the requested arcs.
#include "sampler/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "graph/csr.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

using testing::HasSubstr;

const SamplingOptions kTwoLayers{.fanout = {4, 3}};

/// Every rank's batch of a step, one after the other; ranks read mapped files, so that none needs another.
std::vector<LayerArcs> union_of_ranks(const SampledGraph& graph, int ranks, std::int64_t step,
                                      Index batch_size, const SamplingOptions& options, int threads = 1) {
  ThreadPool pool(threads);
  const auto structure = graph.mapped(pool);
  Sampler sampler(*structure, options);
  std::vector<LayerArcs> layers(options.fanout.size());
  Batch batch;
  for (Rank rank = 0; rank < ranks; ++rank) {
    sampler.sample(step, graph.seeds(ranks, rank, step, batch_size), batch);
    for (int layer = 0; layer < batch.layers(); ++layer)
      EXPECT_TRUE(collect(batch, layer, layers[std::size_t(layer)])) << "ranks disagree";
  }
  return layers;
}

TEST(Sampler, BatchesAreTheSameOnAnyNumberOfRanks) {
  const SampledGraph graph({.graph = {300, 6000, 1, true}});
  for (const bool replace : {false, true})
    for (const std::int64_t step : {0, 5, 31}) {
      SamplingOptions options = kTwoLayers;
      options.replace = replace;
      const auto one = union_of_ranks(graph, 1, step, 20, options);
      EXPECT_EQ(one.back().size(), step == 31 ? 15U : 20U);
      for (const int ranks : {2, 3, 5})
        EXPECT_EQ(union_of_ranks(graph, ranks, step, 20, options), one) << ranks << " ranks, step " << step;
    }
}

TEST(Sampler, ThreadsChangeNothing) {
  const SampledGraph graph({.graph = {9000, 60000, 1, true}});
  const auto one = union_of_ranks(graph, 1, 3, 1000, {.fanout = {5, 70}});
  EXPECT_EQ(union_of_ranks(graph, 1, 3, 1000, {.fanout = {5, 70}}, 4), one);
}

TEST(Sampler, DrawsDependOnVerticesAndNotOnThePartition) {
  const SampledGraph metis, hashed({.partition = {"hash", 3}});
  const auto layers = [](const SampledGraph& graph) {
    std::vector<VertexId> rows;
    for (std::size_t row = 0; row < graph.prepared.ids().size(); ++row)
      if (graph.prepared.ids()[row] % 37 == 0) rows.push_back(VertexId(row));
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    Batch batch;
    Sampler(*structure, kTwoLayers).sample(9, rows, batch);
    return layers_of(batch);
  };
  EXPECT_EQ(layers(metis), layers(hashed));
}

TEST(Sampler, StepLayerAndSeedChangeTheDraw) {
  const SampledGraph graph;
  const auto draw = [&](std::int64_t step, std::uint64_t seed) {
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    SamplingOptions options{.fanout = {5, 5}};
    options.seed = seed;
    Batch batch;
    Sampler(*structure, options).sample(step, graph.all_rows(), batch);
    return layers_of(batch);
  };
  const auto one = draw(1, 1);
  EXPECT_NE(one[0], one[1]);
  EXPECT_NE(draw(2, 1), one);
  EXPECT_NE(draw(1, 2), one);
  EXPECT_EQ(draw(1, 1), one);
}

/// Arcs of the graph that was prepared, by the data set's ids: a row's self-loop first where it is sampled
/// from.
LayerArcs arcs_of(const SampledGraph& graph, bool by_id) {
  const CsrView csr = by_id ? graph.prepared.graph_by_id().rows : graph.prepared.graph();
  LayerArcs all;
  for (Index r = 0; r < csr.rows; ++r)
    for (Index e = csr.offsets[r]; e < csr.offsets[r + 1]; ++e)
      all[graph.prepared.ids()[std::size_t(r)]].emplace_back(
          graph.prepared.ids()[std::size_t(csr.columns[e])], csr.weights == nullptr ? 1.f : csr.weights[e]);
  return all;
}

TEST(Sampler, AllNeighboursOfAllVerticesAreTheWholeGraph) {
  for (const bool weighted : {false, true}) {
    const SampledGraph graph({.graph = {300, 6000, 1, weighted}});
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    for (const int fanout : {kAllNeighbours, 1000}) {
      Batch batch;
      Sampler(*structure, {.fanout = {fanout, fanout}}).sample(0, graph.all_rows(), batch);
      for (int layer = 0; layer < 2; ++layer) {
        EXPECT_EQ(layers_of(batch)[std::size_t(layer)], arcs_of(graph, fanout != kAllNeighbours));
        EXPECT_EQ(batch.block(layer).arcs.weights != nullptr, weighted) << "no weight that is 1 is stored";
        EXPECT_TRUE(std::ranges::equal(batch.block(layer).src_ids, graph.prepared.ids()))
            << "in the same order";
      }
    }
  }
}

/// Loops that transforms have added, and some that the data set had.
TEST(Sampler, ARowHasItsLoopsAndAsManyDistinctNeighboursAsWereAskedFor) {
  using enum GraphTransforms::SelfLoops;
  for (const auto loops : {kAdd, kKeep, kRemove})
    for (const int fanout : {1, 4, 30}) {
      const SampledGraph graph({.transforms = {true, loops, false, true}});
      const LayerArcs whole = arcs_of(graph, true);
      ThreadPool pool(1);
      const auto structure = graph.mapped(pool);
      Batch batch;
      Sampler(*structure, {.fanout = {fanout}}).sample(2, graph.all_rows(), batch);
      const std::vector<LayerArcs> layers = layers_of(batch);
      std::size_t kept = 0;
      for (const auto& [vertex, row] : layers[0]) {
        const RowArcs all = whole.contains(vertex) ? whole.at(vertex) : RowArcs();
        const std::size_t own = std::size_t(!all.empty() && all[0].first == vertex),
                          others = all.size() - own, drawn = std::min(others, std::size_t(fanout));
        ASSERT_EQ(row.size(), drawn + own);
        EXPECT_TRUE(own == 0 || row[0] == std::pair(vertex, 1.f)) << "the self-loop stands for itself";
        std::set<VertexId> distinct;
        for (std::size_t k = own; k < row.size(); ++k) {
          distinct.insert(row[k].first);
          EXPECT_NE(std::ranges::find(all, row[k].first, &RowArcs::value_type::first), all.end());
          EXPECT_EQ(row[k].second, float(double(others) / double(drawn)));
        }
        EXPECT_EQ(distinct.size(), drawn);
        kept += own;
      }
      EXPECT_EQ(kept == layers[0].size(), loops == kAdd);
      EXPECT_EQ(kept == 0, loops == kRemove);
    }
}

TEST(Sampler, WithReplacementEachVertexDrawsTheWholeFanout) {
  const SampledGraph graph({.transforms = {false, GraphTransforms::SelfLoops::kRemove, false, true}});
  const LayerArcs whole = arcs_of(graph, true);
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  Batch batch;
  Sampler(*structure, {.fanout = {7}, .replace = true}).sample(2, graph.all_rows(), batch);
  const std::vector<LayerArcs> layers = layers_of(batch);
  for (const auto& [vertex, row] : layers[0]) {
    const std::size_t others = whole.contains(vertex) ? whole.at(vertex).size() : 0;
    EXPECT_EQ(row.size(), others == 0 ? 0U : 7U);
    for (const auto& [source, weight] : row) EXPECT_EQ(weight, float(double(others) / 7));
  }
}

TEST(Sampler, AttentionHasNoFactorsAndKnowsThePlacesOfTransposedArcs) {
  for (const bool weighted : {false, true}) {
    const SampledGraph graph({.graph = {300, 6000, 1, weighted}});
    const LayerArcs whole = arcs_of(graph, true);
    ThreadPool pool(1);
    const auto structure = graph.mapped(pool);
    Batch batch;
    Sampler(*structure, {.fanout = {3}, .attention = true}).sample(2, graph.seeds(1, 0, 0, 40), batch);
    const Block block = batch.block(0);
    EXPECT_EQ(block.arcs.weights != nullptr, weighted);
    const std::vector<LayerArcs> layers = layers_of(batch);
    for (const auto& [vertex, row] : layers[0])
      for (const auto& arc : row) EXPECT_NE(std::ranges::find(whole.at(vertex), arc), whole.at(vertex).end());
    ASSERT_NE(block.transpose_arc, nullptr);
    for (Index s = 0; s < block.src(); ++s)
      for (Index e = block.transpose.offsets[s]; e < block.transpose.offsets[s + 1]; ++e)
        EXPECT_EQ(block.arcs.columns[block.transpose_arc[e]], s);
  }
}

TEST(Sampler, TransposesHoldTheSameArcs) {
  const SampledGraph graph({.graph = {300, 6000, 1, true}});
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  Batch batch;
  Sampler(*structure, {.fanout = {4, 3}, .transpose_input = false})
      .sample(2, graph.seeds(1, 0, 0, 40), batch);
  EXPECT_EQ(batch.block(0).transpose.columns, nullptr) << "not asked for";
  const Block block = batch.block(1);
  EXPECT_EQ(block.transpose_arc, nullptr) << "attention alone needs it";
  const Transpose expected = transpose(block.arcs, false);
  const CsrView view = expected.csr.view();
  EXPECT_EQ(block.transpose.arcs(), view.arcs());
  EXPECT_TRUE(std::equal(view.offsets, view.offsets + view.rows + 1, block.transpose.offsets));
  EXPECT_TRUE(std::equal(view.columns, view.columns + view.arcs(), block.transpose.columns));
  EXPECT_TRUE(std::equal(view.weights, view.weights + view.arcs(), block.transpose.weights));
}

TEST(Sampler, DestinationsAreTheFirstSourcesAndTheNextLayersSourcesAreItsRows) {
  const SampledGraph graph;
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  Batch batch;
  const auto seeds = graph.seeds(1, 0, 4, 40);
  Sampler(*structure, {.fanout = {4, 3, 2}, .normalisation = Normalisation::kSymmetric})
      .sample(4, seeds, batch);
  EXPECT_TRUE(std::ranges::equal(batch.seeds(), seeds));
  EXPECT_EQ(batch.block(2).dst(), 40);
  EXPECT_EQ(batch.block(2).src(), batch.block(1).dst());
  EXPECT_EQ(batch.block(0).src(), Index(batch.rows().size()));
  const std::set<VertexId> distinct(batch.rows().begin(), batch.rows().end());
  EXPECT_EQ(distinct.size(), batch.rows().size());
  const CsrView csr = graph.prepared.graph();
  for (std::size_t i = 0; i < batch.rows().size(); ++i) {
    const VertexId row = batch.rows()[i];
    EXPECT_EQ(batch.ids()[i], graph.prepared.ids()[std::size_t(row)]);
    EXPECT_EQ(batch.block(0).src_scale[i], src_factor(Normalisation::kSymmetric, degree_of(csr, row)))
        << "of the whole graph";
  }
}

TEST(Sampler, ARankWithoutSeedsHasAnEmptyBatch) {
  const SampledGraph graph;
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  Batch batch;
  Sampler(*structure, kTwoLayers).sample(0, {}, batch);
  EXPECT_EQ(batch.rows().size(), 0U);
  EXPECT_EQ(batch.block(0).src(), 0);
  EXPECT_EQ(batch.block(1).arcs.arcs(), 0);
}

TEST(Sampler, AfterAWarmUpEpochAtMostOneGrowthInAThousandSteps) {
  const SampledGraph graph({.graph = {3000, 30000, 1, true}});
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  Sampler sampler(*structure,
                  {.fanout = {4, 3}, .normalisation = Normalisation::kSymmetric, .attention = true});
  Batch batch;
  Index before = 0;
  for (std::int64_t step = 0; step < 75 + 1000; ++step) {
    if (step == 75) before = batch.reallocations() + sampler.reallocations();
    sampler.sample(step, graph.seeds(1, 0, step, 10), batch);
  }
  EXPECT_LE(batch.reallocations() + sampler.reallocations() - before, 1);
}

TEST(Fanout, IsRefusedWithItsFieldAndARemedy) {
  const auto message = [](std::vector<int> fanout) -> std::string {
    try {
      check_fanout(fanout, 2, "strategy.fanout");
    } catch (const Error& e) {
      return e.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({25, -1}), "accepted");
  EXPECT_EQ(
      message({25}),
      "strategy.fanout: has 1 number for 2 layers that gather neighbours; give one per layer, the layer nearest "
      "to the input first");
  EXPECT_EQ(message({10, 0}),
            "strategy.fanout[1]: 0 is not allowed (use 1 or more, or -1 for all neighbours)");
  EXPECT_THAT(message({-2, 5}), HasSubstr("strategy.fanout[0]: -2 is not allowed"));
}

}  // namespace
}  // namespace atl
