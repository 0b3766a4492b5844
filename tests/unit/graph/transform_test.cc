// Transforms against definitions written with sets and maps.
#include "graph/transform.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "graph/random_graph.h"

namespace atl {
namespace {

using Arc = std::pair<VertexId, VertexId>;  // (row, column)

std::vector<std::pair<Arc, float>> arcs_of(const CsrView& a) {
  std::vector<std::pair<Arc, float>> arcs;
  for (Index r = 0; r < a.rows; ++r)
    for (Index e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
      arcs.push_back({{VertexId(r), a.columns[e]}, a.weights == nullptr ? 1.f : a.weights[e]});
  return arcs;
}

using Weights = std::vector<std::pair<Arc, float>>;
Weights as_list(const std::map<Arc, float>& map) {
  return {map.begin(), map.end()};
}

class Transforms : public testing::TestWithParam<RandomGraph> {
 protected:
  const Csr graph = random_graph(GetParam());
  const Weights arcs = arcs_of(graph.view());
};
INSTANTIATE_TEST_SUITE_P(Graphs, Transforms,
                         testing::Values(RandomGraph{50, 200, 1, false}, RandomGraph{50, 200, 2, true},
                                         RandomGraph{5, 60, 3, true}, RandomGraph{10, 0, 4, true},
                                         RandomGraph{0, 0, 5, false}, RandomGraph{1, 3, 6, true}));

TEST_P(Transforms, symmetrise_adds_each_missing_reverse_once) {
  std::map<Arc, float> expected;
  for (const auto& [arc, weight] : arcs) expected.emplace(arc, weight);  // the first of duplicates stays
  for (const auto& [arc, weight] : arcs) expected.emplace(Arc{arc.second, arc.first}, weight);
  EXPECT_EQ(arcs_of(symmetrise(graph.view()).view()), as_list(expected));
}

TEST_P(Transforms, with_self_loops_has_exactly_one_a_row_and_keeps_the_rest) {
  Weights expected;
  std::map<Arc, float> loops;
  for (VertexId v = 0; v < graph.rows; ++v) loops[{v, v}] = 1;
  for (auto a = arcs.rbegin(); a != arcs.rend(); ++a)
    if (a->first.first == a->first.second) loops[a->first] = a->second;
  for (const auto& arc : arcs)
    if (arc.first.first != arc.first.second) expected.push_back(arc);
  expected.insert(expected.end(), loops.begin(), loops.end());
  std::stable_sort(expected.begin(), expected.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_EQ(arcs_of(with_self_loops(graph.view()).view()), expected);
}

TEST_P(Transforms, without_self_loops_removes_them_alone) {
  Weights expected = arcs;
  std::erase_if(expected, [](const auto& a) { return a.first.first == a.first.second; });
  EXPECT_EQ(arcs_of(without_self_loops(graph.view()).view()), expected);
}

TEST_P(Transforms, induced_subgraph_keeps_rows_and_arcs_between_marked_vertices) {
  std::vector<std::uint8_t> marked(std::size_t(graph.rows));
  for (std::size_t v = 0; v < marked.size(); ++v) marked[v] = v % 3 != 0;
  Weights expected = arcs;
  std::erase_if(expected, [](const auto& a) { return a.first.first % 3 == 0 || a.first.second % 3 == 0; });
  const Csr induced = induced_subgraph(graph.view(), marked);
  EXPECT_EQ(arcs_of(induced.view()), expected);
  EXPECT_EQ(induced.rows, graph.rows);
}

TEST_P(Transforms, neighbour_pattern_is_simple_and_symmetric) {
  std::map<Arc, float> expected;
  for (const auto& [arc, weight] : arcs) {
    if (arc.first == arc.second) continue;
    expected[arc] = 1;
    expected[{arc.second, arc.first}] = 1;
  }
  const Csr pattern = neighbour_pattern(graph.view(), false);
  EXPECT_EQ(arcs_of(pattern.view()), as_list(expected));
  EXPECT_TRUE(pattern.weights.empty());
  EXPECT_EQ(arcs_of(neighbour_pattern(symmetrise(graph.view()).view(), true).view()), as_list(expected));
}

TEST_P(Transforms, transpose_turns_arcs_round_and_remembers_where_they_stood) {
  const Transpose t = transpose(graph.view(), true);
  std::multimap<Arc, float> expected, found;
  for (const auto& [arc, weight] : arcs) expected.emplace(Arc{arc.second, arc.first}, weight);
  for (const auto& [arc, weight] : arcs_of(t.csr.view())) found.emplace(arc, weight);
  EXPECT_EQ(found, expected);
  const auto turned = arcs_of(t.csr.view());
  for (std::size_t i = 0; i < turned.size(); ++i) {
    const auto& original = arcs[std::size_t(t.arc_of[i])];
    EXPECT_EQ(turned[i].first, (Arc{original.first.second, original.first.first}));
    EXPECT_EQ(turned[i].second, original.second);
  }
}

}  // namespace
}  // namespace atl
