// Bipartite graphs, against a search that colours one component after the other.
#include "dataset/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <queue>
#include <random>

#include "dataset/dataset.h"
#include "dataset/import/importers.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

using testing::HasSubstr;

/// Each vertex' side by breadth-first search, −1 where it has no edge; nothing where an edge joins vertices
/// of one side.
std::vector<int> searched_sides(const std::vector<VertexPair>& edges, int vertices) {
  std::vector<std::vector<int>> neighbours(static_cast<std::size_t>(vertices));
  for (const auto& [a, b] : edges) {
    neighbours[std::size_t(a)].push_back(b);
    neighbours[std::size_t(b)].push_back(a);
  }
  std::vector<int> side(std::size_t(vertices), -1);
  for (int start = 0; start < vertices; ++start) {
    if (side[std::size_t(start)] >= 0 || neighbours[std::size_t(start)].empty()) continue;
    side[std::size_t(start)] = 0;
    std::queue<int> open({start});
    for (; !open.empty(); open.pop())
      for (const int other : neighbours[std::size_t(open.front())]) {
        const int wanted = 1 - side[std::size_t(open.front())];
        if (side[std::size_t(other)] == 1 - wanted) return {};
        if (side[std::size_t(other)] < 0) open.push(other);
        side[std::size_t(other)] = wanted;
      }
  }
  return side;
}

/// Some crossing edges, some anywhere, in graphs of few and of many components.
TEST(TwoSides, AreThoseOfASearch) {
  constexpr int kVertices = 24;
  std::mt19937 draws(5);
  const auto vertex = [&] { return VertexId(draws() % kVertices); };
  int bipartite = 0;
  for (int round = 0; round < 300; ++round) {
    EdgeSplit split;
    std::vector<VertexPair> edges;
    for (unsigned i = 0; i < 10 + draws() % 40; ++i) {
      VertexPair edge{vertex(), vertex()};
      if (round % 2 == 0) edge[0] = VertexId(edge[0] / 2 * 2), edge[1] = VertexId(edge[1] / 2 * 2 + 1);
      if (round % 3 == 0) edge = {VertexId(edge[0] % 6), VertexId(edge[1] % 6)};
      if (edge[0] == edge[1]) continue;
      edges.push_back(edge);
      split.pairs[draws() % 3].push_back(edge);
    }
    for (int i = 0; i < 20; ++i) split.pairs[3 + draws() % 2].push_back({vertex(), vertex()});
    const std::vector<int> side = searched_sides(edges, kVertices);
    const auto found = two_sides(split, kVertices);
    const auto joined = side.empty() ? Index(0) : Index(kVertices - std::count(side.begin(), side.end(), -1));
    ASSERT_EQ(found.has_value(), !side.empty() && Index(edges.size()) >= joined) << round;
    if (!found) continue;
    ++bipartite;
    EXPECT_EQ(found->first, std::count(side.begin(), side.end(), 0));
    EXPECT_EQ(found->second, std::count(side.begin(), side.end(), 1));
    Index within = 0;
    for (const std::size_t set : {3, 4})
      for (const auto& [a, b] : split.pairs[set])
        within += side[std::size_t(a)] >= 0 && side[std::size_t(a)] == side[std::size_t(b)];
    EXPECT_EQ(found->pairs, 20);
    EXPECT_EQ(found->within, within);
  }
  EXPECT_GT(bipartite, 50);
}

/// Users 0 … 29, items 30 … 39: what a count over the pairs of the data set says, by which side an id is on.
TEST(TwoSides, AreWarnedOfWhenAnEdgeSplitIsImported) {
  TemporaryFolder folder;
  std::vector<std::int32_t> flat;
  for (int user = 0; user < 30; ++user)
    for (int k = 0; k < 4; ++k) flat.insert(flat.end(), {user, 30 + (user * 7 + k) % 10});
  const auto warnings = [&](const std::vector<std::int32_t>& edges) {
    write_array(folder / "in" / "edges.npy", Dtype::kInt32, edges, {2});
    ImportOptions options;
    options.replace = true;
    options.symmetrise = ImportOptions::Choice::kYes;
    options.edge_split = DrawnEdgeSplit{0.7, 0.15, 0.15, 1};
    std::string told;
    import_dataset("npy", folder / "in", folder / "out", options, {},
                   [&](const std::string& line) { told += line; });
    return told;
  };
  const std::string told = warnings(flat);
  const Dataset dataset = Dataset::open(folder / "out");
  int within = 0, all = 0;
  for (const PairSet set : {PairSet::kValidationNegative, PairSet::kTestNegative})
    for (Index i = 0; i < dataset.pairs(set).rows; ++i, ++all)
      within += (dataset.pairs(set).at(i, 0) < 30) == (dataset.pairs(set).at(i, 1) < 30);
  ASSERT_GT(within, 0);
  EXPECT_THAT(
      told, HasSubstr(fmt::format("the graph is bipartite (30 + 10 vertices); {:.0f} % of the negative pairs",
                                  100.0 * within / all)));
  flat.insert(flat.end(), {0, 1});  // two users
  EXPECT_THAT(warnings(flat), testing::Not(HasSubstr("bipartite")));
}

}  // namespace
}  // namespace atl
