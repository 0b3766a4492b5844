// A rank's knowledge of its historical embeddings: which rows it keeps, from when on, and how old they may
// be.
#include "sampler/history/history_directory.h"

#include <gmock/gmock.h>

#include "comm/ranks.h"
#include "sampler/sampled_graph.h"

namespace atl {
namespace {

constexpr int kRanks = 3;

/// Arcs from each of others' rows to a rank's.
std::map<VertexId, Index> arcs_from_others(const SampledGraph& graph, const Owners& owners, Rank rank) {
  std::map<VertexId, Index> arcs;
  const CsrView all = graph.prepared.graph();
  for (Index row = owners.first_row(rank); row < owners.first_row(rank) + owners.rows(rank); ++row)
    for (Index e = all.offsets[row]; e < all.offsets[row + 1]; ++e)
      if (!owners.owns(rank, all.columns[e])) ++arcs[all.columns[e]];
  return arcs;
}

TEST(HistoryRows, AreThoseThatAreReadMost) {
  const SampledGraph graph;
  const Owners owners(graph.prepared.part_offsets(), kRanks);
  ThreadPool pool(1);
  const auto structure = graph.mapped(pool);
  for (Rank rank = 0; rank < kRanks; ++rank) {
    const auto arcs = arcs_from_others(graph, owners, rank);
    EXPECT_EQ(most_read_rows(*structure, owners, rank, 100'000).size(), arcs.size());
    const auto most = most_read_rows(*structure, owners, rank, 20);
    ASSERT_EQ(most.size(), 20U);
    EXPECT_TRUE(std::ranges::is_sorted(most));
    Index least = 1 << 20;
    for (const VertexId row : most) least = std::min(least, arcs.at(row));
    for (const auto& [row, count] : arcs)
      EXPECT_TRUE(count <= least || std::ranges::binary_search(most, row)) << row;
  }
}

TEST(HistoryRows, OwnersKnowWhoKeepsTheirRowsAndWhere) {
  const SampledGraph graph;
  const Owners owners(graph.prepared.part_offsets(), kRanks);
  std::vector<std::unique_ptr<HistoryRows>> of(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    of[std::size_t(comm.rank())] =
        history_rows(drawn_graph(graph.prepared, false, false), owners, comm, comm.rank() == 1 ? 0 : 60);
  });
  EXPECT_EQ(of[1]->slots(), 0);
  for (Rank keeper : {0, 2}) EXPECT_EQ(of[std::size_t(keeper)]->slots(), 60);
  Index known = 0;
  for (Rank owner = 0; owner < kRanks; ++owner)
    for (Index row = owners.first_row(owner); row < owners.first_row(owner) + owners.rows(owner); ++row)
      for (const auto [keeper, place] : of[std::size_t(owner)]->keepers_of(VertexId(row))) {
        const HistoryRows& there = *of[std::size_t(keeper)];
        EXPECT_EQ(there.slot_of(VertexId(row)), there.first_slots()[std::size_t(owner)] + place);
        EXPECT_EQ(there.row_in(there.slot_of(VertexId(row))), VertexId(row));
        ++known;
      }
  EXPECT_EQ(known, 120);
}

class Directory : public testing::Test {
 protected:
  /// Rank 0 of two with two rows each keeps the other's.
  Directory() : owners_(begins_, 2), rows_(owners_, 0, {2, 3}, wanted_) {}
  static void push(HistoryDirectory& directory, const std::vector<VertexId>& slots, Index of_second_layer) {
    PushedRows arriving;
    for (const VertexId slot : slots) arriving.rows.push(slot);
    const auto count = Index(slots.size());
    arriving.begins = {0, 0, count};
    arriving.counts = {0, 0, count, of_second_layer};
    directory.add(arriving);
  }
  const std::vector<Index> begins_{0, 2, 4};
  const std::vector<std::span<const VertexId>> wanted_{{}, {}};
  Owners owners_;
  HistoryRows rows_;
};

TEST_F(Directory, ARowIsThereAfterItsDelayAndUntilItsAge) {
  HistoryDirectory directory(rows_, {.layers = 2, .delay = 2, .max_age = 4});
  for (std::int64_t step = 0; step < 12; ++step) {
    directory.begin(step);
    // Pushed in step 3, the first layer's of row 2 alone again in step 6.
    EXPECT_EQ(directory.find(1, 2), step >= 5 && step <= 10 ? 0 : -1) << step;
    EXPECT_EQ(directory.find(1, 3), step >= 5 && step <= 7 ? 1 : -1) << step;
    EXPECT_EQ(directory.find(2, 2), step >= 5 && step <= 7 ? 0 : -1) << step;
    EXPECT_EQ(directory.find(2, 3), -1) << "its second layer was never pushed";
    EXPECT_EQ(directory.find(1, 1), -1) << "it isn't kept";
    if (step == 3)
      push(directory, {0, 1}, 1);
    else
      push(directory, step == 6 ? std::vector<VertexId>{0} : std::vector<VertexId>{}, 0);
  }
}

TEST_F(Directory, GoesOnAsAnotherOne) {
  const HistoryOptions options{.layers = 2, .delay = 2, .max_age = 4};
  HistoryDirectory one(rows_, options), other(rows_, options);
  for (std::int64_t step = 0; step < 6; ++step) {
    one.begin(step);
    push(one, {VertexId(step % 2)}, step % 2);
  }
  other.take(one);
  for (std::int64_t step = 6; step < 12; ++step) {
    one.begin(step), other.begin(step);
    for (const int layer : {1, 2})
      for (const VertexId row : {2, 3}) EXPECT_EQ(one.find(layer, row), other.find(layer, row)) << step;
    push(one, {}, 0), push(other, {}, 0);
  }
}

}  // namespace
}  // namespace atl
