// All ranks' parts together are the whole graph: each arc once, rows sent where they are read, scales of the
// whole.
#include "partition/local_graph.h"
#include "partition/prepared_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <tuple>

#include "graph/transform.h"
#include "partition/sample_dataset.h"

namespace atl {
namespace {

struct Case {
  std::string kind;
  int parts;
  RandomGraph graph;
  bool symmetrise;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.kind << " " << c.parts << " parts, " << c.graph.vertices << " vertices, " << c.graph.arcs
             << " arcs, symmetrise " << c.symmetrise;
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const char* kind : {"metis", "hash", "range"})
    for (const int parts : {1, 2, 7}) {
      all.push_back({kind, parts, {120, 500, 1, false}, false});
      all.push_back({kind, parts, {60, 300, 2, true}, true});
      all.push_back({kind, parts, {7, 12, 3, true}, false});
    }
  return all;
}

/// A data set on disk and what was prepared from it.
struct Sample {
  explicit Sample(const Case& c)
      : dataset(sample_dataset(folder.path() / "sample", c.graph)),
        symmetrised(c.symmetrise),
        prepared(PreparedGraph::make(dataset, {c.kind, c.parts},
                                     {c.symmetrise, GraphTransforms::SelfLoops::kKeep, true},
                                     training_marks(dataset))) {}

  TemporaryFolder folder;
  Dataset dataset;
  bool symmetrised;
  PreparedGraph prepared;
};

class Localize : public testing::TestWithParam<Case> {
 protected:
  /// Made once a case, for all its tests.
  static const Sample& sample_of(const Case& c) {
    static std::map<std::string, std::unique_ptr<Sample>> samples;
    std::ostringstream name;
    name << c;
    auto& sample = samples[name.str()];
    if (!sample) sample = std::make_unique<Sample>(c);
    return *sample;
  }

  std::vector<std::unique_ptr<LocalGraph>> ranks(const LocalizeOptions& options) const {
    std::vector<std::unique_ptr<LocalGraph>> all;
    for (Rank r = 0; r < prepared.parts(); ++r) all.push_back(localize(prepared, r, options));
    return all;
  }

  std::span<const std::uint8_t> induced_on(bool induced) const {
    return induced ? std::span<const std::uint8_t>(marks) : std::span<const std::uint8_t>();
  }

  /// The transformed graph in the data set's numbering.
  Csr whole(bool induced = false) const {
    Csr graph =
        induced_subgraph(dataset.graph(), std::vector<std::uint8_t>(std::size_t(dataset.graph().rows), 1));
    if (sample.symmetrised) graph = symmetrise(graph.view());
    return induced ? induced_subgraph(graph.view(), training_marks(dataset)) : std::move(graph);
  }

  const Sample& sample = sample_of(GetParam());
  const Dataset& dataset = sample.dataset;
  const PreparedGraph& prepared = sample.prepared;
  const std::vector<std::uint8_t> marks = training_marks(dataset);
};
INSTANTIATE_TEST_SUITE_P(All, Localize, testing::ValuesIn(cases()));

using Arc = std::tuple<VertexId, VertexId, float>;

void add_arcs(const Block& block, std::multiset<Arc>& arcs) {
  for (Index r = 0; r < block.dst(); ++r)
    for (Index e = block.arcs.offsets[r]; e < block.arcs.offsets[r + 1]; ++e)
      arcs.insert({block.dst_ids[std::size_t(r)], block.src_ids[std::size_t(block.arcs.columns[e])],
                   block.arcs.weights == nullptr ? 1.f : block.arcs.weights[e]});
}

std::multiset<Arc> all_arcs(const Csr& graph) {
  std::multiset<Arc> arcs;
  for (Index r = 0; r < graph.rows; ++r)
    for (Index e = graph.offsets[std::size_t(r)]; e < graph.offsets[std::size_t(r) + 1]; ++e)
      arcs.insert({VertexId(r), graph.columns[std::size_t(e)],
                   graph.weights.empty() ? 1.f : graph.weights[std::size_t(e)]});
  return arcs;
}

TEST_P(Localize, ranks_hold_every_vertex_and_arc_once) {
  for (const bool induced : {false, true}) {
    std::multiset<Arc> arcs;
    std::multiset<VertexId> vertices;
    for (const auto& local : ranks({Normalisation::kSum, false, induced_on(induced)})) {
      add_arcs(local->own_block(), arcs);
      add_arcs(local->outer_block(), arcs);
      vertices.insert(local->ids.begin(), local->ids.begin() + local->owned);
    }
    EXPECT_EQ(arcs, all_arcs(whole(induced)));
    std::multiset<VertexId> expected;  // induced: the training vertices alone
    for (Index v = 0; v < dataset.meta().vertices; ++v) {
      if (!induced || marks[std::size_t(v)] != 0) expected.insert(VertexId(v));
    }
    EXPECT_EQ(vertices, expected);
  }
}

TEST_P(Localize, what_one_rank_sends_is_what_its_peer_has_in_its_halo) {
  for (const bool induced : {false, true}) {
    const auto all = ranks({Normalisation::kSum, false, induced_on(induced)});
    for (const auto& local : all) {
      Index received = 0;
      for (const PeerRows& peer : local->peers) {
        ASSERT_NE(peer.peer, local->rank);
        EXPECT_EQ(peer.receive_begin, received) << "peers' rows stand one after the other";
        received += peer.receive_count;
        const LocalGraph& other = *all[std::size_t(peer.peer)];
        std::vector<VertexId> expected(local->ids.begin() + local->owned + peer.receive_begin,
                                       local->ids.begin() + local->owned + received);
        std::vector<VertexId> sent;
        for (const PeerRows& back : other.peers)
          if (back.peer == local->rank)
            for (const VertexId row : back.send) {
              EXPECT_LT(row, other.boundary);
              sent.push_back(other.ids[std::size_t(row)]);
            }
        EXPECT_EQ(sent, expected);
        EXPECT_TRUE(!peer.send.empty() || peer.receive_count > 0);
      }
      EXPECT_EQ(received, local->halo);
    }
  }
}

TEST_P(Localize, boundary_is_the_quality_s) {
  for (const auto& local : ranks({}))
    EXPECT_EQ(local->boundary, prepared.quality().boundary[std::size_t(local->rank)]);
}

TEST_P(Localize, transposes_are_those_of_the_blocks) {
  for (const auto& local : ranks({Normalisation::kSum, true}))
    for (const Block& block : {local->own_block(), local->outer_block()}) {
      const Transpose expected = transpose(block.arcs, true);
      const Index arcs = expected.csr.arcs();
      ASSERT_EQ(block.transpose.rows, block.src());
      EXPECT_TRUE(
          std::equal(expected.csr.offsets.begin(), expected.csr.offsets.end(), block.transpose.offsets));
      EXPECT_TRUE(
          std::equal(expected.csr.columns.begin(), expected.csr.columns.end(), block.transpose.columns));
      EXPECT_TRUE(arcs == 0 ||
                  std::equal(expected.arc_of.begin(), expected.arc_of.end(), block.transpose_arc));
      if (block.arcs.weights != nullptr) {
        EXPECT_TRUE(
            std::equal(expected.csr.weights.begin(), expected.csr.weights.end(), block.transpose.weights));
      }
    }
}

TEST_P(Localize, scales_are_those_of_the_whole_graph) {
  for (const bool induced : {false, true}) {
    const Csr graph = whole(induced);
    std::vector<double> degree(std::size_t(graph.rows), 0);
    for (const auto& [row, column, weight] : all_arcs(graph)) degree[std::size_t(row)] += double(weight);
    const auto expected = [&](Normalisation n, VertexId v, bool dst) {
      const double d = degree[std::size_t(v)];
      if (n == Normalisation::kMean) return !dst ? 1.0 : d > 0 ? 1 / d : 0;
      return d > 0 ? 1 / std::sqrt(d) : 0;
    };
    for (const auto n : {Normalisation::kMean, Normalisation::kSymmetric})
      for (const auto& local : ranks({n, false, induced_on(induced)}))
        for (const Block& block : {local->own_block(), local->outer_block()}) {
          for (Index r = 0; r < block.dst(); ++r)
            EXPECT_NEAR(block.dst_scale[r], expected(n, block.dst_ids[std::size_t(r)], true), 1e-6);
          for (Index s = 0; block.src_scale != nullptr && s < block.src(); ++s)
            EXPECT_NEAR(block.src_scale[s], expected(n, block.src_ids[std::size_t(s)], false), 1e-6);
          EXPECT_TRUE(n != Normalisation::kMean || block.src_scale == nullptr);
        }
  }
}

TEST(LocalizeSum, has_no_scales) {
  const TemporaryFolder folder;
  const Dataset dataset = sample_dataset(folder.path() / "sample", {30, 90, 1, false});
  const auto prepared = PreparedGraph::make(dataset, {"hash", 2}, {}, {});
  const auto local = localize(prepared, 0, {});
  EXPECT_EQ(local->own_block().dst_scale, nullptr);
  EXPECT_EQ(local->outer_block().src_scale, nullptr);
}

TEST(LocalizeSymmetric, keeps_no_second_copy_of_a_symmetric_graph) {
  const TemporaryFolder folder;
  const Dataset dataset = sample_dataset(folder.path() / "sample", {60, 300, 1, false});
  const auto prepared = PreparedGraph::make(dataset, {"metis", 2}, {true}, {});
  const auto local = localize(prepared, 1, {});
  EXPECT_TRUE(local->own_is_symmetric);
  EXPECT_EQ(local->own_transpose.arcs(), 0);
  EXPECT_EQ(local->own_block().transpose.columns, local->own_block().arcs.columns);
}

}  // namespace
}  // namespace atl
