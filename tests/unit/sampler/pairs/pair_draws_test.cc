// Negative pairs are never training edges, come from all vertices, and don't depend on who owns which
// vertices.
#include "sampler/pairs/pair_draws.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/random.h"
#include "dataset/source_files.h"
#include "dataset/writer.h"
#include "sampler/draw_positions.h"

namespace atl {
namespace {

using IdPair = std::pair<VertexId, VertexId>;

/// Some arcs between so many vertices, all of them training edges. Vertex 0 is joined with everybody but the
/// last.
Dataset dataset_of(const TemporaryFolder& folder, Index vertices) {
  WriterOptions options;
  options.symmetrise = true, options.threads = 1;
  DatasetWriter writer(folder / "pairs", options);
  writer.set_vertices(vertices);
  EdgeSplit split;
  for (VertexId v = 1; v + 1 < vertices; ++v) {
    split.of(PairSet::kTrain).push_back({0, v});
    if (v > 2) split.of(PairSet::kTrain).push_back({v, VertexId(v - 2)});
  }
  writer.set_edge_split(std::move(split), "test");
  writer.finish();
  return Dataset::open(folder / "pairs");
}

struct Drawn {
  std::multiset<IdPair> edges, negatives;
};

/// All ranks' pairs of a step, by id; rows are the vertices in the order of `ids`.
Drawn draw(const Dataset& dataset, const std::vector<VertexId>& ids, int ranks, int negatives,
           std::int64_t step) {
  const auto vertices = Index(ids.size());
  std::vector<VertexId> row_of(ids.size());
  for (std::size_t row = 0; row < ids.size(); ++row) row_of[std::size_t(ids[row])] = VertexId(row);
  std::vector<Index> offsets{0};
  for (int part = 1; part <= 4; ++part) offsets.push_back(vertices * part / 4);
  Drawn all;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const PairGraph graph(dataset, row_of, ids, offsets, Owners(offsets, ranks), rank);
    StepPairs pairs;
    PairDraws(graph, negatives, 7).draw_all(step, pairs);
    for (Index i = 0; i < pairs.size(); ++i) {
      EXPECT_TRUE(graph.owners().owns(rank, pairs.sources[i]));
      (i < pairs.edges ? all.edges : all.negatives)
          .insert({ids[std::size_t(pairs.sources[i])], ids[std::size_t(pairs.destinations[i])]});
    }
  }
  return all;
}

std::vector<VertexId> in_order(Index vertices) {
  std::vector<VertexId> ids(std::size_t(vertices), 0);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

TEST(PairDraws, AreNoTrainingEdgesUnlessThereIsNothingElse) {
  TemporaryFolder folder;
  const Dataset dataset = dataset_of(folder, 40);
  const Drawn drawn = draw(dataset, in_order(40), 1, 3, 0);
  EXPECT_EQ(Index(drawn.edges.size()), dataset.meta().pairs.supervised);
  EXPECT_EQ(drawn.negatives.size(), 3 * drawn.edges.size());
  for (const auto& [a, b] : drawn.negatives) {
    EXPECT_FALSE(drawn.edges.contains({a, b}) || drawn.edges.contains({b, a})) << a << ' ' << b;
    EXPECT_NE(a, b);
    EXPECT_TRUE(a != 0 || b == 39) << "the only one that 0 isn't joined with";
  }
}

TEST(PairDraws, AreTheSameOnAnyNumberOfRanksInAnyOrderOfRows) {
  TemporaryFolder folder;
  const Dataset dataset = dataset_of(folder, 40);
  const Drawn one = draw(dataset, in_order(40), 1, 1, 3);
  std::vector<VertexId> turned = in_order(40);
  std::ranges::reverse(turned);
  for (const int ranks : {2, 3, 4}) {
    EXPECT_EQ(draw(dataset, turned, ranks, 1, 3).negatives, one.negatives) << ranks;
    EXPECT_EQ(draw(dataset, turned, ranks, 1, 3).edges, one.edges) << ranks;
  }
  EXPECT_NE(draw(dataset, in_order(40), 1, 1, 4).negatives, one.negatives) << "another step, other pairs";
}

TEST(PairGraph, RefusesMoreEdgesThanARankCanNumber) {
  constexpr Index kMost = std::numeric_limits<VertexId>::max();
  check_own_edges(kMost, 4 * kMost, 1);
  EXPECT_THAT(
      [] { check_own_edges(kMost + 1, 2 * kMost + 1, 1); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "2147483648 of the 4294967295 supervised training edges begin at vertices of rank 1, and a rank "
          "numbers at most 2147483647 (use more ranks: with 3,")));
}

/// A source's count is the same for all, or one more; where few get one more they are looked up, as where
/// many do.
TEST(PairDraws, ComeFromEveryVertexAlike) {
  TemporaryFolder folder;
  const Dataset dataset = dataset_of(folder, 60);
  std::map<VertexId, int> sources, destinations;
  constexpr int kSteps = 200;
  for (int step = 0; step < kSteps; ++step) {
    std::map<VertexId, int> here;
    for (const auto& [a, b] : draw(dataset, in_order(60), 4, 1, step).negatives)
      ++sources[a], ++destinations[b], ++here[a];
    for (const auto& [vertex, count] : here) EXPECT_LE(count, 2);
  }
  const double mean = double(kSteps) * double(dataset.meta().pairs.supervised) / 60;
  for (const auto& [vertex, count] : sources) EXPECT_NEAR(count, mean, 0.2 * mean) << vertex;
  for (VertexId v = 3; v < 59; ++v) EXPECT_NEAR(destinations[v], destinations[30], 0.35 * mean) << v;
}

TEST(KeyedOrderOfPairs, FindsWhereANumberIs) {
  for (std::uint64_t size = 1; size < 200; size += 7) {
    const KeyedOrder order(size, mix64(size));
    for (std::uint64_t place = 0; place < size; ++place) ASSERT_EQ(order.place_of(order.at(place)), place);
  }
}

}  // namespace
}  // namespace atl
