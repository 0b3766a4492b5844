// Batches that end at others' vertices: for own rows and known ones they draw the same as plain batches.
#include <gmock/gmock.h>

#include "comm/ranks.h"
#include "sampler/history/history_pushes.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

constexpr int kRanks = 3;
constexpr std::int64_t kSteps = 8;

class LeavesOfBatches : public testing::TestWithParam<int> {
 protected:
  /// Steps of all ranks, each told of with its batch and what is known then.
  void draw(const SamplingOptions& sampling,
            const std::function<void(const HistoryDirectory&, const Batch&, const Batch& plain)>& see) const {
    run_ranks(kRanks, [&](Communicator& comm) {
      const auto drawn = drawn_graph(graph_.prepared, false, true);
      const auto rows = history_rows(drawn, owners_, comm, 1000);
      ThreadPool pool(1);
      const auto structure = partitioned_structure(drawn, owners_, comm, pool);
      const auto mapped = graph_.mapped(pool);
      Sampler sampler(*structure, sampling), plain(*mapped, sampling);
      HistoryPushes pushes(*rows, {.layers = 1, .delay = 1, .max_age = 2}, comm);
      sampler.read_history(&pushes.directory());
      Batch batch, whole;
      StepPushes step_pushes;
      for (std::int64_t step = 0; step < kSteps; ++step) {
        pushes.begin(step);
        const auto seeds = graph_.seeds(kRanks, comm.rank(), step, 30);
        sampler.sample(step, seeds, batch);
        plain.sample(step, seeds, whole);
        pushes.exchange(batch, step_pushes);
        if (comm.rank() == 1) see(pushes.directory(), batch, whole);
      }
    });
  }
  const SampledGraph graph_{{.graph = {300, 6000, 1, true}}};
  const Owners owners_{graph_.prepared.part_offsets(), kRanks};
};

/// Of k drawn neighbours those that are there stand for all: each for k times the plain batch's over their
/// number.
TEST_P(LeavesOfBatches, ReadWhatIsKnownAndStandForAll) {
  Index read = 0, left_out = 0;
  draw({.fanout = {3, GetParam()}, .normalisation = Normalisation::kSymmetric},
       [&](const HistoryDirectory& known, const Batch& batch, const Batch& plain) {
         const auto whole = layers_of(plain)[1], cut = layers_of(batch)[1];
         std::map<VertexId, VertexId> row_of;
         for (std::size_t row = 0; row < graph_.prepared.ids().size(); ++row)
           row_of[graph_.prepared.ids()[row]] = VertexId(row);
         for (const auto& [id, arcs] : cut) {
           RowArcs kept;
           Index others = 0, loops = 0;
           double scale = 0;
           for (const auto& [source, weight] : whole.at(id)) {
             const VertexId row = row_of.at(source);
             const bool loop = source == id;
             others += loop ? 0 : 1, loops += loop ? 1 : 0;
             if (!owners_.owns(1, row) && known.find(1, row) < 0) continue;
             kept.emplace_back(source, weight);
           }
           const auto left = Index(kept.size()) - loops;
           if (left > 0) scale = double(others) / double(left);
           ASSERT_EQ(arcs.size(), kept.size());
           for (std::size_t i = 0; i < arcs.size(); ++i) {
             EXPECT_EQ(arcs[i].first, kept[i].first);
             const double factor = kept[i].first == id ? 1 : scale;
             EXPECT_NEAR(arcs[i].second, kept[i].second * factor, 1e-5 * arcs[i].second);
           }
           left_out += others - left;
         }
         read += batch.leaves(1).size();
         const Block block = batch.block(1);
         EXPECT_EQ(block.src(), batch.input_rows(1) + batch.leaves(1).size());
         EXPECT_EQ(Index(block.src_ids.size()), block.src());
         EXPECT_EQ(block.transpose.rows, block.src());
         for (Index leaf = 0; leaf < batch.leaves(1).size(); ++leaf) {
           const VertexId row = batch.leaves(1).rows[leaf];
           EXPECT_FALSE(owners_.owns(1, row));
           const auto at = std::size_t(batch.input_rows(1) + leaf);
           EXPECT_EQ(block.src_ids[at], graph_.prepared.ids()[std::size_t(row)]);
           EXPECT_EQ(block.src_scale[at],
                     src_factor(Normalisation::kSymmetric, degree_of(graph_.prepared.graph(), row)));
         }
       });
  EXPECT_GT(read, 0);
  EXPECT_GT(left_out, 0);
}

INSTANTIATE_TEST_SUITE_P(Fanouts, LeavesOfBatches, testing::Values(4, kAllNeighbours),
                         [](const auto& each) { return each.param > 0 ? "some" : "all"; });

/// A batch reads features of others' rows, but computes none of them.
TEST_F(LeavesOfBatches, ComputeOwnRowsAlone) {
  draw({.fanout = {3, 4}}, [&](const HistoryDirectory&, const Batch& batch, const Batch&) {
    const auto rows = batch.rows();
    for (Index row = 0; row < batch.output_rows(0); ++row)
      EXPECT_TRUE(owners_.owns(1, rows[std::size_t(row)]));
    EXPECT_GT(Index(rows.size()), batch.output_rows(0));
  });
}

}  // namespace
}  // namespace atl
