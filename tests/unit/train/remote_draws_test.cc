// Neighbours drawn by masks: as often as the mask says, as many of other ranks as the split says, and in
// total as many as without masks.
#include "strategies/dgs/remote_draws.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "comm/ranks.h"
#include "sampler/sampled_graph.h"
#include "sampler/structure.h"

namespace atl {
namespace {

constexpr int kDraws = 2000;

/// A row of six own neighbours and five others', between them: prepared row 0 of rank 0, which has rows 0 … 9
/// of 20.
class RemoteRow : public testing::Test {
 protected:
  RemoteRow() {
    const std::vector<VertexId> neighbours{1, 12, 2, 3, 11, 15, 4, 19, 5, 6, 13};
    columns_ = neighbours;
    offsets_.assign(21, Index(neighbours.size()));
    offsets_[0] = 0;
    graph_.by_id.rows = {20, 20, offsets_.data(), columns_.data(), nullptr};
    arcs_.emplace(graph_, owners_, 0);
  }
  /// How often each position was drawn, and others' in all.
  std::vector<int> draw(const RemoteDraws& draws, int count, bool replace = false) {
    std::vector<int> drawn(columns_.size());
    std::vector<VertexId> positions(static_cast<std::size_t>(count));
    RemoteDraws::Scratch scratch;
    for (int step = 0; step < kDraws; ++step) {
      const Draws keys(3, Purpose::kNeighbour, std::uint64_t(step), 0);
      draws.draw(keys.row_key(77), 0, std::uint32_t(columns_.size()), replace, positions, scratch);
      for (const VertexId position : positions) ++drawn[std::size_t(position)];
      std::vector<VertexId> distinct = positions;
      std::ranges::sort(distinct);
      EXPECT_TRUE(replace || std::ranges::adjacent_find(distinct) == distinct.end());
    }
    return drawn;
  }
  bool is_others(std::size_t position) const { return columns_[position] >= 10; }
  int others(const std::vector<int>& drawn) const {
    int sum = 0;
    for (std::size_t i = 0; i < drawn.size(); ++i) sum += is_others(i) ? drawn[i] : 0;
    return sum;
  }

  std::vector<Index> offsets_;
  std::vector<VertexId> columns_;
  DrawnGraph graph_;
  std::vector<Index> parts_{0, 10, 20};
  Owners owners_{parts_, 2};
  std::optional<RemoteArcs> arcs_;
};

TEST_F(RemoteRow, TheMaskIsOfOtherRanksRowsThatOwnOnesRead) {
  EXPECT_THAT(arcs_->vertices(), testing::ElementsAre(11, 12, 13, 15, 19));
  EXPECT_EQ(arcs_->of(0).size(), 5U);
  EXPECT_TRUE(arcs_->of(1).empty());
}

/// Of a thousand rows that all read the same one, no more than their arcs and that one.
TEST(RemoteArcs, HoldARowThatManyReadOnce) {
  constexpr Index kOwn = 1000;
  std::vector<Index> offsets(std::size_t(kOwn) + 2, kOwn);
  std::iota(offsets.begin(), offsets.end() - 1, Index(0));
  const std::vector<VertexId> columns(offsets.size() - 2, VertexId(kOwn));
  DrawnGraph graph;
  graph.by_id.rows = {kOwn + 1, kOwn + 1, offsets.data(), columns.data(), nullptr};
  const std::vector<Index> parts{0, kOwn, kOwn + 1};
  const Owners owners(parts, 2);
  const RemoteArcs arcs(graph, owners, 0);
  EXPECT_THAT(arcs.vertices(), testing::ElementsAre(VertexId(kOwn)));
  EXPECT_EQ(arcs.bytes(),
            Index((kOwn + 1) * sizeof(Index) + kOwn * sizeof(RemoteArcs::Arc) + sizeof(VertexId)));
}

/// Masks all equal and nothing moved: each neighbour as often as any other.
TEST_F(RemoteRow, EqualMasksDrawAllNeighboursAlike) {
  const std::vector<double> equal(5, 0.3);
  for (const bool replace : {false, true}) {
    const auto drawn = draw({*arcs_, equal, 0, RemoteDraws::Split::kNeighbours}, 4, replace);
    for (const int each : drawn) EXPECT_NEAR(each, 4.0 / 11 * kDraws, 4 * std::sqrt(4.0 / 11 * kDraws));
    EXPECT_NEAR(others(drawn), 4 * 5.0 / 11 * kDraws, 4 * 0.5 * std::sqrt(kDraws));
  }
}

/// One of others' a draw: in proportion to the masks.
TEST_F(RemoteRow, OthersAreDrawnInProportionToTheirMasks) {
  const std::vector<double> masks{0.1, 0.2, 0.3, 0.15, 0.25};
  // 4 · 5/11 − 4 · 9/44 is 1.
  for (const bool replace : {false, true}) {
    const auto drawn = draw({*arcs_, masks, 9.0 / 44, RemoteDraws::Split::kNeighbours}, 4, replace);
    EXPECT_NEAR(others(drawn), kDraws, 2);
    int place = 0;
    for (const VertexId row : arcs_->vertices()) {
      const double p = masks[std::size_t(place++)];
      EXPECT_NEAR(drawn[std::size_t(std::ranges::find(columns_, row) - columns_.begin())], p * kDraws,
                  4 * std::sqrt(p * (1 - p) * kDraws))
          << row;
    }
  }
}

/// Of 5 draws, 10 % are moved: half a neighbour less of others'. As many are drawn as before.
TEST_F(RemoteRow, EpsilonMovesDrawsToOwnNeighbours) {
  const std::vector<double> equal(5, 1);
  const auto drawn = draw({*arcs_, equal, 0.1, RemoteDraws::Split::kNeighbours}, 5);
  EXPECT_EQ(std::accumulate(drawn.begin(), drawn.end(), 0), 5 * kDraws);
  EXPECT_NEAR(others(drawn), (5 * 5.0 / 11 - 0.5) * kDraws, 4 * 0.5 * std::sqrt(kDraws));
}

/// Six own ones are all there are: of ten draws four are others', whatever is moved.
TEST_F(RemoteRow, WhatOneSideLacksIsDrawnOfTheOther) {
  const std::vector<double> equal(5, 0.5);
  EXPECT_EQ(others(draw({*arcs_, equal, 0.9, RemoteDraws::Split::kNeighbours}, 10)), 4 * kDraws);
}

/// Masks sum to 1 beside six own neighbours: a seventh of the draws.
TEST_F(RemoteRow, TheMasksSumMayBeTheShare) {
  const std::vector<double> masks(5, 0.2);
  const auto drawn = draw({*arcs_, masks, 0, RemoteDraws::Split::kMask}, 7);
  EXPECT_NEAR(others(drawn), 1.0 * kDraws, 4 * 0.5 * std::sqrt(kDraws));
}

/// Whoever asks, a row's owner draws the same.
TEST(RemoteDrawsOfRanks, AreTheSameForWhoeverAsks) {
  const SampledGraph graph;
  const DrawnGraph drawn = drawn_graph(graph.prepared, false, true);
  const std::vector<VertexId> rows = graph.all_rows();
  const std::vector<VertexId> few(rows.begin() + 40, rows.begin() + 200);
  for (const int ranks : {2, 3}) {
    std::vector<LayerArcs> by_rank(static_cast<std::size_t>(ranks));
    run_ranks(ranks, [&](Communicator& comm) {
      ThreadPool pool(2);
      const Owners owners(graph.prepared.part_offsets(), comm.size());
      const RemoteArcs arcs(drawn, owners, comm.rank());
      std::vector<double> masks;
      for (const VertexId row : arcs.vertices()) masks.push_back(0.1 + 0.01 * double(row % 80));
      const RemoteDraws draws(arcs, masks, 0.1, RemoteDraws::Split::kNeighbours);
      const auto structure = partitioned_structure(drawn, owners, comm, pool);
      Sampler sampler(*structure, {.fanout = {3}, .seed = 9});
      sampler.draw_by(&draws);
      Batch batch;
      sampler.sample(5, few, batch);
      collect(batch, 0, by_rank[std::size_t(comm.rank())]);
    });
    for (const LayerArcs& each : by_rank) EXPECT_EQ(each, by_rank.front());
  }
}

}  // namespace
}  // namespace atl
