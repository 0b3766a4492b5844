// Consequences of given masks, as from a checkpoint (DGS, Wan et al. 2022, section III-C): how often each
// neighbour on another rank is drawn into batches, by the definition and the raw arcs, and which of its
// columns are fetched.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <mutex>
#include <set>

#include "sampler/sampler.h"
#include "strategies/dgs/explanations.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kRanks = 2, kDraws = 3000, kFanout = 4;
constexpr double kEpsilon = 0.1;

/// From 0.05 to 0.95, in an order that has nothing to do with the vertices'.
double mask_of(VertexId id) {
  return 0.05 + 0.9 * Draws(5, Purpose::kSampling).uniform_at(std::uint64_t(id), 0);
}

/// P that so many draws have `which`: one after the other, each in proportion to its weight among those that
/// are left.
double chance(const std::vector<double>& weights, std::size_t which, int draws) {
  double sum = 0, p = 0;
  for (const double w : weights) sum += w;
  for (std::size_t first = 0; draws > 0 && first < weights.size(); ++first) {
    if (weights[first] == 0) continue;
    std::vector<double> left = weights;
    left[first] = 0;
    p += weights[first] / sum * (first == which ? 1 : chance(left, which, draws - 1));
  }
  return p;
}

using Frequencies = std::map<std::pair<VertexId, VertexId>, double>;  // of an arc, by the data set's vertices

/// Of the neighbours of a vertex d, o of them other ranks', k are drawn: k (o / d − ε) of others', as far as
/// there are so many on either side.
void expect_of(VertexId v, const std::vector<VertexId>& own, const std::vector<VertexId>& others,
               const std::vector<double>& weights, Frequencies& expected) {
  const double d = double(own.size() + others.size()), k = kFanout;
  if (d <= k) return;  // all are read
  const double least = k - std::min(k, double(own.size())), most = std::min(k, double(others.size()));
  const double wanted = std::clamp(k * (double(others.size()) / d - kEpsilon), least, most);
  const int whole = int(wanted);
  for (std::size_t i = 0; i < others.size(); ++i)
    expected[{v, others[i]}] =
        (1 - (wanted - whole)) * chance(weights, i, whole) + (wanted - whole) * chance(weights, i, whole + 1);
  for (const VertexId u : own) expected[{v, u}] = (k - wanted) / double(own.size());
}

class KnownMasks : public testing::TestWithParam<bool> {
 protected:
  KnownMasks() { write_small_data(folder_ / "small", {.features = 8, .arc_share = 0.18}); }

  /// A rank's, with the masks' state as a checkpoint of the step in which they begin leaves it.
  struct Masked {
    Masked(SmallRank& rank, Communicator& comm, bool odds)
        : graph(rank.data.held_in_training().batches()),
          masks(rank.ctx, comm, rank.trainer->model(), rank.trainer->parameters(), graph,
                {.every = 4,
                 .feature_rate = 0.5,
                 .shift = kEpsilon,
                 .odds = odds,
                 .explainer = {.epochs = 1}}) {
      std::map<std::string, MatrixView> state;
      for (const NamedMatrix& each : masks.state()) state[each.name] = each.values;
      state["explained"].at(0, 0) = 2,
                               state["explained"].at(0, 1) = 1;  // explanation 1 is under way, 0 is known
      std::ranges::copy(rank.trainer->parameters().values(), state["explained_weights"].data);
      const std::vector<VertexId> remote = remote_rows(rank.dataset, comm.rank());
      EXPECT_EQ(state["mask_vertices"].cols, Index(remote.size()));
      for (std::size_t i = 0; i < remote.size(); ++i)
        state["mask_vertices"].at(0, Index(i)) = Real(mask_of(graph.training.ids[std::size_t(remote[i])]));
      for (const Index c : {0, 1, 2, 3, 4, 5, 6, 7})
        state["mask_features"].at(0, c) = Real((3 * c + 5 * comm.rank()) % 8 + 1) / 10;
      masks.start(4);
    }
    /// Prepared rows of other ranks that own ones read, ascending.
    std::vector<VertexId> remote_rows(const Dataset& data, Rank rank) const {
      std::set<VertexId> ids, rows;
      const CsrView arcs = data.graph();
      for (Index row = graph.owners.first_row(rank); row < graph.owners.first_row(rank + 1); ++row)
        for (const VertexId u : arcs.row(graph.training.ids[std::size_t(row)])) ids.insert(u);
      for (std::size_t row = 0; row < graph.training.ids.size(); ++row)
        if (ids.contains(graph.training.ids[row]) && !graph.owners.owns(rank, Index(row)))
          rows.insert(VertexId(row));
      return {rows.begin(), rows.end()};
    }
    const BatchGraph& graph;
    Explanations masks;
  };
  Job job() const { return dgs_job({"gcn", {"model.layers=2"}}, kRanks, {"placement.partitioner=hash"}); }

  TemporaryFolder folder_;
};

/// In proportion to s / (1 − s) of a mask s by default, or to s.
TEST_P(KnownMasks, DrawEachNeighbourAsOftenAsTheySay) {
  const bool odds = GetParam();
  Frequencies drawn, expected;
  std::mutex lock;
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job(), folder_ / "small", 1);
    Masked masked(rank, comm, odds);
    const BatchGraph& graph = masked.graph;
    std::vector<VertexId> rows;
    for (Index row = graph.owners.first_row(comm.rank()); row < graph.owners.first_row(comm.rank() + 1);
         ++row)
      rows.push_back(VertexId(row));
    EXPECT_EQ(masked.masks.of(3).vertices, nullptr) << "before they begin";
    const NeighbourDraws* const draws = masked.masks.of(4).vertices;
    ASSERT_NE(draws, nullptr);
    const auto structure = partitioned_structure(graph.training, graph.owners, comm, rank.pool);
    Sampler sampler(*structure, {.fanout = {kFanout}, .seed = 9});
    sampler.draw_by(draws);
    Frequencies mine;
    Batch batch;
    for (int step = 0; step < kDraws; ++step) {
      sampler.sample(step, rows, batch);
      const Block block = batch.block(0);
      for (Index d = 0; d < block.dst(); ++d)
        for (Index e = block.arcs.offsets[d]; e < block.arcs.offsets[d + 1]; ++e)
          mine[{block.dst_ids[std::size_t(d)], block.src_ids[std::size_t(block.arcs.columns[e])]}] +=
              1.0 / kDraws;
    }
    const std::lock_guard guard(lock);
    drawn.insert(mine.begin(), mine.end());
    std::map<VertexId, VertexId> row_of;
    for (std::size_t row = 0; row < graph.training.ids.size(); ++row)
      row_of[graph.training.ids[row]] = VertexId(row);
    for (const VertexId row : rows) {
      const VertexId v = graph.training.ids[std::size_t(row)];
      std::vector<VertexId> own, others;
      std::vector<double> weights;
      for (const VertexId u : rank.dataset.graph().row(v))
        (graph.owners.owns(comm.rank(), row_of[u]) ? own : others).push_back(u);
      for (const VertexId u : others) weights.push_back(odds ? mask_of(u) / (1 - mask_of(u)) : mask_of(u));
      expect_of(v, own, others, weights, expected);
    }
  });
  ASSERT_GT(expected.size(), 300U);
  int far = 0;
  for (const auto& [arc, p] : expected) {
    const double error = std::sqrt(std::max(0.0, p * (1 - p)) / kDraws);
    EXPECT_NEAR(drawn[arc], p, 4.5 * error + 1e-6) << arc.first << " reads " << arc.second;
    far += std::abs(p - double(kFanout) /
                            double(Dataset::open(folder_ / "small").graph().degree(arc.first))) > 10 * error;
  }
  EXPECT_GT(far, int(expected.size()) / 4) << "draws without masks would be others";
}

INSTANTIATE_TEST_SUITE_P(Probabilities, KnownMasks, testing::Values(true, false),
                         [](const auto& each) { return each.param ? "odds" : "mask"; });

/// Half of 8 columns: those with the largest masks of whoever asks, which all ranks are told.
TEST_P(KnownMasks, FetchTheColumnsWithTheLargest) {
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job(), folder_ / "small", 1);
    Masked masked(rank, comm, GetParam());
    EXPECT_EQ(masked.masks.of(3).columns, nullptr);
    const ColumnChoice* const columns = masked.masks.of(4).columns;
    ASSERT_NE(columns, nullptr);
    EXPECT_THAT(columns->of(0), testing::ElementsAre(2, 4, 5, 7));  // 1 4 7 2 5 8 3 6 tenths
    EXPECT_THAT(columns->of(1), testing::ElementsAre(0, 3, 5, 6));  // 6 1 4 7 2 5 8 3
  });
}

TEST(LargestColumns, AreAscendingAndOfEqualOnesTheFirst) {
  const std::vector<Real> values{3, 1, 4, 1, 5, 4};
  std::vector<VertexId> chosen(3), scratch;
  largest_columns(values, chosen, scratch);
  EXPECT_THAT(chosen, testing::ElementsAre(2, 4, 5));
  chosen.resize(5);
  largest_columns(values, chosen, scratch);
  EXPECT_THAT(chosen, testing::ElementsAre(0, 1, 2, 4, 5));
}

}  // namespace
}  // namespace atl
