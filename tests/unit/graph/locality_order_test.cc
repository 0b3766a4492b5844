#include "graph/transform.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graph/csr.h"
#include "graph/random_graph.h"

namespace atl {
namespace {

/// `cliques` cliques of `size` vertices whose ids are interleaved, joined in a ring by single arcs.
Csr interleaved_cliques(VertexId cliques, VertexId size) {
  Csr csr;
  csr.rows = csr.cols = cliques * size;
  for (VertexId v = 0; v < csr.rows; ++v) {
    for (VertexId u = 0; u < csr.rows; ++u) {
      const bool same = u % cliques == v % cliques && u != v;
      const bool ring = u < cliques && v < cliques && (u + 1) % cliques == v;
      if (same || ring) csr.columns.push_back(u);
    }
    csr.offsets.push_back(Index(csr.columns.size()));
  }
  return neighbour_pattern(csr.view(), false);
}

/// Mean over arcs of the distance between their ends in an order.
double mean_distance(const CsrView& graph, const std::vector<VertexId>& order) {
  std::vector<Index> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[std::size_t(order[i])] = Index(i);
  double sum = 0;
  for (Index r = 0; r < graph.rows; ++r)
    for (const VertexId c : graph.row(r))
      sum += std::abs(double(place[std::size_t(r)] - place[std::size_t(c)]));
  return sum / double(graph.arcs());
}

TEST(LocalityOrder, is_a_permutation_of_any_graph) {
  for (const RandomGraph options :
       {RandomGraph{80, 300, 1, false}, {1, 0, 2, false}, {0, 0, 3, false}, {30, 4, 4, false}}) {
    const Csr pattern = neighbour_pattern(random_graph(options).view(), false);
    auto order = locality_order(pattern.view(), {});
    EXPECT_EQ(order, locality_order(pattern.view(), {})) << "not the same twice";
    std::sort(order.begin(), order.end());
    std::vector<VertexId> all(std::size_t(options.vertices));
    std::iota(all.begin(), all.end(), 0);
    EXPECT_EQ(order, all);
  }
}

TEST(LocalityOrder, finds_communities) {
  const Csr graph = interleaved_cliques(20, 10);
  std::vector<VertexId> natural(std::size_t(graph.rows));
  std::iota(natural.begin(), natural.end(), 0);
  EXPECT_GT(mean_distance(graph.view(), natural), 40);
  EXPECT_LT(mean_distance(graph.view(), locality_order(graph.view(), {})), 10);
}

TEST(LocalityOrder, never_merges_across_groups) {
  const Csr graph = interleaved_cliques(8, 10);
  std::vector<std::int32_t> group(std::size_t(graph.rows));
  for (std::size_t v = 0; v < group.size(); ++v) group[v] = v / 8 < 5 ? 0 : 1;  // cuts every clique in half
  const auto order = locality_order(graph.view(), group);
  for (std::size_t i = 0; i < order.size(); i += 5)
    for (std::size_t k = 1; k < 5; ++k) {
      EXPECT_EQ(group[std::size_t(order[i])], group[std::size_t(order[i + k])]);
      EXPECT_EQ(order[i] % 8, order[i + k] % 8);
    }
}

TEST(Normalisation, factors_of_degrees) {
  const Csr weighted{2, 2, {0, 2, 2}, {0, 1}, {0.5f, 1.5f}};
  EXPECT_EQ(degree_of(weighted.view(), 0), 2.0);
  EXPECT_EQ(degree_of(weighted.view(), 1), 0.0);
  EXPECT_EQ(dst_factor(Normalisation::kSum, 4), 1);
  EXPECT_EQ(dst_factor(Normalisation::kMean, 4), Real(0.25));
  EXPECT_EQ(src_factor(Normalisation::kMean, 4), 1);
  EXPECT_EQ(dst_factor(Normalisation::kSymmetric, 4), Real(0.5));
  EXPECT_EQ(src_factor(Normalisation::kSymmetric, 4), Real(0.5));
  EXPECT_EQ(dst_factor(Normalisation::kMean, 0), 0);
  EXPECT_EQ(src_factor(Normalisation::kSymmetric, 0), 0);
}

}  // namespace
}  // namespace atl
