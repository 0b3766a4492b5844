// Properties of every prepared graph, whoever partitions, each checked by another, slower method.
#include "partition/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "base/error.h"
#include "graph/csr.h"
#include "graph/random_graph.h"
#include "graph/transform.h"

namespace atl {
namespace {

using WeightedArc = std::tuple<VertexId, VertexId, float>;

std::multiset<WeightedArc> arcs_in(const CsrView& a, const std::vector<VertexId>& ids) {
  std::multiset<WeightedArc> arcs;
  for (Index r = 0; r < a.rows; ++r)
    for (Index e = a.offsets[r]; e < a.offsets[r + 1]; ++e)
      arcs.insert(
          {ids[std::size_t(r)], ids[std::size_t(a.columns[e])], a.weights == nullptr ? 1.f : a.weights[e]});
  return arcs;
}

std::vector<VertexId> identity(Index n) {
  std::vector<VertexId> ids(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) ids[std::size_t(i)] = VertexId(i);
  return ids;
}

struct Case {
  std::string kind;
  int parts;
  RandomGraph graph;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.kind << " " << c.parts << " parts, " << c.graph.vertices << " vertices, " << c.graph.arcs
             << " arcs";
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* kind : {"metis", "hash", "range"})
    for (const int parts : {1, 2, 3, 8})
      for (const RandomGraph graph :
           {RandomGraph{200, 900, 1, false}, {60, 300, 2, true}, {8, 20, 3, false}, {12, 0, 4, false}})
        all.push_back({kind, parts, graph});
  return all;
}

class Prepare : public testing::TestWithParam<Case> {
 protected:
  const Csr graph = random_graph(GetParam().graph);
  const PartitionOptions options{GetParam().kind, GetParam().parts};
  const std::vector<std::uint8_t> training = [this] {
    std::vector<std::uint8_t> marks(std::size_t(graph.rows));
    for (std::size_t v = 0; v < marks.size(); ++v) marks[v] = v % 4 == 0;
    return marks;
  }();
  Prepared prepare_it(GraphTransforms transforms = {}) const {
    return prepare(graph.view(), false, options, transforms, training);
  }
};
INSTANTIATE_TEST_SUITE_P(All, Prepare, testing::ValuesIn(cases()));

TEST_P(Prepare, renumbers_without_losing_an_arc_or_a_weight) {
  const Prepared p = prepare_it();
  EXPECT_EQ(arcs_in(p.whole.graph.view(), p.ids), arcs_in(graph.view(), identity(graph.rows)));
  for (Index r = 0; r < graph.rows; ++r) {
    const auto row = p.whole.graph.view().row(r);
    EXPECT_TRUE(std::is_sorted(row.begin(), row.end()));
  }
  ASSERT_EQ(Index(p.part_offsets.size()), options.parts + 1);
  EXPECT_EQ(p.part_offsets.front(), 0);
  EXPECT_EQ(p.part_offsets.back(), graph.rows);
}

TEST_P(Prepare, halos_boundaries_and_quality_equal_a_naive_count) {
  const Prepared p = prepare_it();
  const auto part_of = [&](Index row) {
    int part = 0;
    while (row >= p.part_offsets[std::size_t(part) + 1]) ++part;
    return part;
  };
  std::vector<std::set<VertexId>> halo(std::size_t(options.parts)), boundary(std::size_t(options.parts));
  std::vector<Index> arcs(std::size_t(options.parts), 0), trained(std::size_t(options.parts), 0);
  Index cut = 0;
  for (Index r = 0; r < graph.rows; ++r) {
    const auto mine = std::size_t(part_of(r));
    trained[mine] += training[std::size_t(p.ids[std::size_t(r)])];
    for (const VertexId c : p.whole.graph.view().row(r)) {
      ++arcs[mine];
      if (part_of(c) == part_of(r)) continue;
      ++cut;
      halo[mine].insert(c);
      boundary[std::size_t(part_of(c))].insert(c);
    }
  }
  Index volume = 0;
  for (std::size_t q = 0; q < halo.size(); ++q) {
    const std::vector<VertexId> listed(p.whole.halo.begin() + p.whole.halo_offsets[q],
                                       p.whole.halo.begin() + p.whole.halo_offsets[q + 1]);
    EXPECT_EQ(listed, std::vector<VertexId>(halo[q].begin(), halo[q].end()));
    std::vector<VertexId> first_rows = identity(Index(boundary[q].size()));
    for (auto& row : first_rows) row += VertexId(p.part_offsets[q]);
    EXPECT_EQ(std::vector<VertexId>(boundary[q].begin(), boundary[q].end()), first_rows)
        << "boundary rows first";
    EXPECT_EQ(p.quality.halo[q], Index(halo[q].size()));
    EXPECT_EQ(p.quality.boundary[q], Index(boundary[q].size()));
    EXPECT_EQ(p.quality.owned[q], p.part_offsets[q + 1] - p.part_offsets[q]);
    volume += Index(halo[q].size());
  }
  EXPECT_EQ(p.quality.arcs, arcs);
  EXPECT_EQ(p.quality.training, trained);
  EXPECT_EQ(p.quality.cut_arcs, cut);
  EXPECT_EQ(p.quality.volume, volume);
}

TEST_P(Prepare, is_the_same_every_time) {
  const Prepared a = prepare_it(), b = prepare_it();
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.part_offsets, b.part_offsets);
}

TEST_P(Prepare, transforms_come_first) {
  using enum GraphTransforms::SelfLoops;
  const Prepared p = prepare_it({true, kAdd, false});
  const Csr expected = with_self_loops(symmetrise(graph.view()).view());
  EXPECT_EQ(arcs_in(p.whole.graph.view(), p.ids), arcs_in(expected.view(), identity(graph.rows)));
  const Prepared bare = prepare_it({false, kRemove, false});
  EXPECT_EQ(arcs_in(bare.whole.graph.view(), bare.ids),
            arcs_in(without_self_loops(graph.view()).view(), identity(graph.rows)));
}

TEST_P(Prepare, induced_graph_has_the_same_rows_and_arcs_between_training_vertices) {
  const Prepared p = prepare_it({true, GraphTransforms::SelfLoops::kKeep, true});
  const Csr expected = induced_subgraph(symmetrise(graph.view()).view(), training);
  EXPECT_EQ(arcs_in(p.induced.graph.view(), p.ids), arcs_in(expected.view(), identity(graph.rows)));
  EXPECT_EQ(Index(p.induced.halo_offsets.size()), options.parts + 1);
}

/// Each row again, self-loops first, the others by ascending vertex: what a position means is the same in any
/// numbering.
void expect_rows_by_id(const Csr& graph, const RowsById& by_id, const std::vector<VertexId>& ids) {
  const CsrView view = graph.view();
  ASSERT_EQ(by_id.columns.size(), graph.columns.size());
  ASSERT_EQ(by_id.weights.size(), graph.weights.size());
  for (Index r = 0; r < view.rows; ++r) {
    std::vector<std::tuple<bool, VertexId, float>> expected, found;  // (no loop, vertex, weight)
    for (Index e = view.offsets[r]; e < view.offsets[r + 1]; ++e) {
      const auto arc = [&](const std::vector<VertexId>& columns, const std::vector<float>& weights) {
        const VertexId column = columns[std::size_t(e)];
        return std::tuple(column != r, ids[std::size_t(column)],
                          weights.empty() ? 1.f : weights[std::size_t(e)]);
      };
      expected.push_back(arc(graph.columns, graph.weights));
      found.push_back(arc(by_id.columns, by_id.weights));
    }
    std::stable_sort(expected.begin(), expected.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    EXPECT_EQ(found, expected) << "row " << r;
    if (view.weights == nullptr) continue;
    EXPECT_EQ(by_id.degrees[std::size_t(r)], degree_of(view, r)) << "row " << r;
  }
}

TEST_P(Prepare, rows_by_id_hold_the_same_arcs_in_an_order_of_their_own) {
  EXPECT_FALSE(prepare_it().whole.by_id);
  const Prepared p = prepare_it({true, GraphTransforms::SelfLoops::kAdd, true, true});
  expect_rows_by_id(p.whole.graph, *p.whole.by_id, p.ids);
  expect_rows_by_id(p.induced.graph, *p.induced.by_id, p.ids);
}

TEST(PrepareErrors, name_what_is_wrong) {
  const Csr graph = random_graph({5, 10, 1, false});
  const auto message = [&](PartitionOptions options) -> std::string {
    try {
      prepare(graph.view(), false, options, {}, {});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message({"metis", 6}), "6 parts for 5 vertices (use at most one part per vertex)");
  EXPECT_EQ(message({"mettis", 1}), "partitioner \"mettis\" is unknown; known are metis, hash, range");
  EXPECT_EQ(message({"metis", 2, 1, "speed"}),
            "objective \"speed\" of the metis partitioner is unknown; known are volume and cut");
}

TEST(PrepareErrors, more_arcs_than_metis_can_count_are_refused_by_name) {
  const Csr small = random_graph({5, 10, 1, false});
  CsrView huge = small.view();
  const std::vector<Index> offsets{0, 1, 2, 3, 4, Index(1) << 31};  // refused before an arc is read
  huge.offsets = offsets.data();
  const std::vector<VertexId> degrees(5, 1);
  std::vector<std::int32_t> owner(5);
  try {
    assign_by_metis({huge, degrees, {}}, {"metis", 2}, owner);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(
        e.what(),
        testing::HasSubstr("2147483648 arcs are more than its limit of 2147483647; use the hash or range"));
  }
}

TEST(PrepareErrors, more_vertices_than_metis_can_weigh_are_refused_by_name) {
  const Csr small = random_graph({5, 10, 1, false});
  CsrView huge = small.view();
  huge.rows = huge.cols = Index(1) << 30;  // with two weights each; refused before any is read
  std::vector<std::int32_t> owner(5);
  try {
    assign_by_metis({huge, {}, {}}, {"metis", 2}, owner);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_THAT(
        e.what(),
        testing::HasSubstr("2 weights of each of 1073741824 vertices are more than its limit of 2147483647"));
  }
}

/// A ring of `groups` dense groups: its best partition is known.
Csr ring_of_groups(VertexId groups, VertexId size) {
  Csr csr;
  csr.rows = csr.cols = groups * size;
  for (VertexId v = 0; v < csr.rows; ++v) {
    std::set<VertexId> row;
    for (VertexId u = v / size * size; u < (v / size + 1) * size; ++u) row.insert(u);
    if (v % size == 0) row.insert((v + size) % csr.rows);
    csr.columns.insert(csr.columns.end(), row.begin(), row.end());
    csr.offsets.push_back(csr.arcs());
  }
  return symmetrise(csr.view());
}

TEST(Metis, finds_groups_and_balances_training_vertices) {
  const Csr graph = ring_of_groups(16, 25);
  std::vector<std::uint8_t> training(std::size_t(graph.rows), 0);
  for (std::size_t v = 0; v < 200; v += 2) training[v] = 1;  // all in the first half of the ring
  for (const char* objective : {"volume", "cut"}) {
    const auto q = prepare(graph.view(), true, {"metis", 4, 1, objective}, {}, training).quality;
    EXPECT_LE(q.balance_vertices, 1.3) << objective;
    EXPECT_LE(q.balance_training, 1.4) << objective;
    EXPECT_LT(q.volume, graph.rows / 2) << objective;
  }
  const auto random = prepare(graph.view(), true, {"hash", 4}, {}, training).quality;
  const auto metis = prepare(graph.view(), true, {"metis", 4}, {}, {}).quality;
  EXPECT_LE(metis.balance_vertices, 1.06);
  EXPECT_LE(metis.volume, 16);
  EXPECT_GT(random.volume, 20 * metis.volume);
}

TEST(Metis, balances_arcs_whose_number_exceeds_31_bits) {
  constexpr VertexId kVertices = 64;
  Csr ring;
  ring.rows = ring.cols = kVertices;
  for (VertexId v = 0; v < kVertices; ++v) {
    const auto [before, after] = std::minmax({(v + kVertices - 1) % kVertices, (v + 1) % kVertices});
    ring.columns.insert(ring.columns.end(), {before, after});
    ring.offsets.push_back(ring.arcs());
  }
  const std::vector<VertexId> degrees(std::size_t(kVertices), 200'000'000);  // multiple arcs: 12.8 billion
  std::vector<std::int32_t> owner(std::size_t(kVertices), -1);
  assign_by_metis({ring.view(), degrees, {}}, {"metis", 2}, owner);
  const auto first = std::ranges::count(owner, 0);
  EXPECT_EQ(first + std::ranges::count(owner, 1), kVertices);
  EXPECT_GE(first, 28);
  EXPECT_LE(first, 36);
}

TEST(Metis, another_seed_may_give_other_parts_and_the_same_seed_never) {
  const Csr graph = random_graph({300, 3000, 7, false});
  const auto ids = [&](std::uint64_t seed) {
    return prepare(graph.view(), false, {"metis", 4, seed}, {}, {}).ids;
  };
  EXPECT_EQ(ids(1), ids(1));
  EXPECT_NE(ids(1), ids(2));
}

TEST(Quality, prints_totals_and_a_row_a_part) {
  const Csr graph = ring_of_groups(4, 5);
  const std::string text = to_text(prepare(graph.view(), true, {"range", 2}, {}, {}).quality);
  EXPECT_EQ(text,
            "2 parts: 4 rows exchanged per layer (0.200 per vertex), 4 arcs cut (3.7 %)\n"
            "largest part / mean: vertices 1.000, arcs 1.000, training vertices 1.000\n"
            " part     vertices     boundary         halo  halo ratio           arcs     training\n"
            "    0           10            2            2       0.200             54            0\n"
            "    1           10            2            2       0.200             54            0\n");
}

}  // namespace
}  // namespace atl
