// How many arcs a plan takes a batch to look at: as many as its sets are asked about.
#include <gtest/gtest.h>

#include "sampler/sampled_graph.h"
#include "sampler/sampler.h"

namespace atl {
namespace {

/// Sources of even number, and how often it was asked about an arc.
class AskedArcs final : public KeptArcs {
 public:
  explicit AskedArcs(bool induces) : induces_(induces) {}
  Index asked() const { return asked_; }
  float stands_for(VertexId, VertexId column, Index) const override {
    ++asked_;
    return column % 2 == 0 ? 1.F : 0.F;
  }
  bool weighs() const override { return false; }
  bool induces_degrees() const override { return induces_; }

 private:
  const bool induces_;
  mutable Index asked_ = 0;
};

class AskedSets final : public StepSets {
 public:
  explicit AskedSets(bool induces) : arcs_(induces) {}
  void draw(std::int64_t, std::span<const VertexId>) override {}
  const KeptArcs& of_layer(int) const override { return arcs_; }
  Index reallocations() const override { return 0; }
  Index asked() const { return arcs_.asked(); }

 private:
  AskedArcs arcs_;
};

/// Self-loops aren't asked about, so the graph has none.
TEST(ArcsLookedAt, AreThoseThatSetsAreAskedAbout) {
  SampledGraphOptions without_loops;
  without_loops.transforms.self_loops = GraphTransforms::SelfLoops::kRemove;
  const SampledGraph graph(without_loops);
  const CsrView whole = graph.prepared.graph();
  for (const auto by : {Normalisation::kMean, Normalisation::kSymmetric})
    for (const bool induces : {false, true}) {
      ThreadPool pool(1);
      const auto structure = graph.mapped(pool);
      AskedSets sets(induces);
      Sampler sampler(*structure, {.fanout = {-1, -1}, .normalisation = by}, &sets);
      Batch batch;
      sampler.sample(1, graph.seeds(2, 0, 1, 20), batch);
      EXPECT_GT(sets.asked(), batch.arcs());
      EXPECT_EQ(sampler.arcs_looked_at(batch, {whole.offsets, std::size_t(whole.rows) + 1}), sets.asked());
    }
}

TEST(ArcsLookedAt, AreNoneWhereEachVertexDraws) {
  const SampledGraph graph;
  const CsrView whole = graph.prepared.graph();
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  Sampler sampler(*structure, {.fanout = {4, 3}});
  Batch batch;
  sampler.sample(1, graph.seeds(2, 0, 1, 20), batch);
  EXPECT_EQ(sampler.arcs_looked_at(batch, {whole.offsets, std::size_t(whole.rows) + 1}), 0);
}

}  // namespace
}  // namespace atl
