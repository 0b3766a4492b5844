// Batches that ranks push to each other form one batch of the group, in which each member's rows aggregate
// the same as in its own batch.
#include <gtest/gtest.h>

#include <mutex>

#include "comm/ranks.h"
#include "sampler/column_push.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

constexpr int kRanks = 3;
constexpr Index kColumns = 7;

/// By destination's id: Σ of scaled weights times the source's id, of a block whose rows begin at `begin`.
std::map<VertexId, double> sums_of(const Block& block, Index begin, Index count) {
  std::map<VertexId, double> sums;
  for (Index d = begin; d < begin + count; ++d) {
    double sum = 0;
    for (Index e = block.arcs.offsets[d]; e < block.arcs.offsets[d + 1]; ++e) {
      const VertexId source = block.arcs.columns[e];
      const double weight = block.arcs.weights == nullptr ? 1 : double(block.arcs.weights[e]);
      sum += weight * double(block.src_scale == nullptr ? 1 : block.src_scale[source]) *
             (1 + double(block.src_ids[std::size_t(source)]));
    }
    sums[block.dst_ids[std::size_t(d)]] = sum * double(block.dst_scale == nullptr ? 1 : block.dst_scale[d]);
  }
  return sums;
}

struct PushCase {
  const char* name;
  int hops;
  Normalisation normalisation;
  std::vector<int> fanout;
};

class Pushed : public testing::TestWithParam<PushCase> {};

TEST_P(Pushed, BatchesAggregateWhatTheirOwnersDo) {
  const PushCase& c = GetParam();
  const SampledGraph graph;
  const auto vertices = Index(graph.prepared.ids().size());
  Matrix values(vertices, kColumns);
  for (Index v = 0; v < vertices; ++v)
    for (Index col = 0; col < kColumns; ++col) values.at(v, col) = Real(v * 10 + col);
  std::mutex lock;
  std::vector<std::vector<std::map<VertexId, double>>> seen(kRanks), own(kRanks);  // by rank and hop
  run_ranks(kRanks, [&](Communicator& comm) {
    ThreadPool pool(2);
    const auto structure = graph.mapped(pool);
    Sampler sampler(*structure, {.fanout = c.fanout, .normalisation = c.normalisation});
    const ColumnShare share = column_share(kColumns, {0, 1, 2}, comm.rank());
    Matrix here(vertices, share.count());
    for (Index v = 0; v < vertices; ++v)
      std::copy_n(&values.at(v, share.first()), share.count(), here.view().row(v));
    const HeldColumns held{std::as_const(here).view(), share};
    const GroupBatchOptions options{.hops = c.hops, .normalisation = c.normalisation, .transposed = true};
    ColumnPush push(comm, pool, held, options);
    Batch batch;
    GroupBatch group;
    FeatureRows features;
    for (std::int64_t step = 0; step < 3; ++step) {
      sampler.sample(step, graph.seeds(kRanks, comm.rank(), step, 40), batch);
      push.push(batch, group, features);
      ASSERT_EQ(features.count(), group.all_rows());
      for (Index r = 0; r < features.count(); ++r)
        for (Index col = 0; col < share.count(); ++col)
          ASSERT_EQ(features.dense.at(r, col), values.at(group.ids()[std::size_t(r)], share.first() + col));
      const Index mine = group.whole_begin(share.place);
      for (Index r = 0; r < group.whole_count(share.place); ++r)
        ASSERT_EQ(group.ids()[std::size_t(mine + r)], batch.ids()[std::size_t(r)]);
    }
    const std::lock_guard guard(lock);
    for (int hop = 0; hop < c.hops; ++hop) {
      const Block block = batch.block(hop), of_group = group.block(hop);
      own[std::size_t(comm.rank())].push_back(sums_of(block, 0, block.dst()));
      seen[std::size_t(comm.rank())].push_back(
          hop + 1 == c.hops
              ? sums_of(of_group, group.whole_begin(share.place), group.whole_count(share.place))
              : sums_of(of_group, 0, of_group.dst()));
      EXPECT_EQ(of_group.transpose.arcs(), of_group.arcs.arcs());
      EXPECT_EQ(of_group.transpose.rows, of_group.src());
    }
  });
  // What comes out is each owner's; what lies between is everybody's on every rank.
  for (std::size_t r = 0; r < kRanks; ++r)
    for (int hop = 0; hop < c.hops; ++hop) {
      const auto& mine = own[r][std::size_t(hop)];
      if (hop + 1 == c.hops) {
        EXPECT_EQ(seen[r][std::size_t(hop)], mine);
        continue;
      }
      for (const auto& each : seen)
        for (const auto& [id, sum] : mine) EXPECT_TRUE(each[std::size_t(hop)].contains(id));
    }
}

INSTANTIATE_TEST_SUITE_P(Layers, Pushed,
                         testing::Values(PushCase{"one", 1, Normalisation::kSymmetric, {3, 3}},
                                         PushCase{"two", 2, Normalisation::kMean, {3, 3}},
                                         PushCase{"one_of_all", 1, Normalisation::kSum, {-1, 2}},
                                         PushCase{"encoder", 0, Normalisation::kSymmetric, {3, 3}}),
                         [](const auto& each) { return each.param.name; });

TEST(ColumnShares, HoldEveryColumnOnce) {
  for (const Index whole : {3, 4, 7, 100}) {
    Index next = 0;
    for (Rank rank = 0; rank < 3; ++rank) {
      const ColumnShare share = column_share(whole, {0, 1, 2}, rank);
      EXPECT_EQ(share.first(), next);
      EXPECT_GE(share.count(), whole / 3);
      next += share.count();
    }
    EXPECT_EQ(next, whole);
  }
}

}  // namespace
}  // namespace atl
