// Servers' graphs under GraNNDis compared with a plain search (server_search.h) and with the probabilities of
// its draws: copies, arcs between them, degrees, and the rows that a server's ranks read of each other.
#include "partition/server_graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "partition/sample_dataset.h"
#include "partition/server_search.h"

namespace atl {
namespace {

struct Case {
  std::string name;
  RandomGraph graph;
  GraphTransforms transforms = {};
  std::string partitioner = "hash";
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

constexpr int kParts = 4, kTogether = 2;  // two servers of two ranks

class Servers : public testing::TestWithParam<Case> {
 protected:
  Servers()
      : data_(sample_dataset(folder_.path() / "sample", GetParam().graph)),
        marks_(training_marks(data_)),
        prepared_(
            PreparedGraph::make(data_, {GetParam().partitioner, kParts}, GetParam().transforms, marks_)),
        arcs_(arcs_by_id(data_, GetParam().transforms.self_loops == GraphTransforms::SelfLoops::kAdd)) {
    if (GetParam().transforms.induced) arcs_ = arcs_among(arcs_, marks_);
  }

  /// Whose vertex: (vertices) parts. Of an inductive job's, training vertices alone are anybody's.
  std::set<VertexId> own(int first, int parts) const {
    std::set<VertexId> own;
    for (Index row = prepared_.part_offsets()[std::size_t(first)];
         row < prepared_.part_offsets()[std::size_t(first + parts)]; ++row) {
      const VertexId id = prepared_.ids()[std::size_t(row)];
      if (!GetParam().transforms.induced || marks_[std::size_t(id)] != 0) own.insert(id);
    }
    return own;
  }
  ServerOptions options(int first, int hops, int fanout, int layers, std::uint64_t epoch = 0) const {
    ServerOptions o{
        .first_part = first, .parts = kTogether, .max_hop = hops, .fanout = fanout, .layers = layers};
    o.seed = 3, o.epoch = epoch;
    if (GetParam().transforms.induced) o.induced_on = marks_;
    return o;
  }
  HeldByServer search(const ServerOptions& o, const std::set<VertexId>& own) const {
    return search_server(arcs_, own, {o.max_hop, o.fanout, o.seed, o.epoch});
  }

  TemporaryFolder folder_;
  Dataset data_;
  std::vector<std::uint8_t> marks_;
  PreparedGraph prepared_;
  ArcsById arcs_;
};

std::map<VertexId, float> arcs_of_row(const ServerGraph& graph, std::size_t row) {
  std::map<VertexId, float> arcs;
  for (Index e = graph.graph.offsets[row]; e < graph.graph.offsets[row + 1]; ++e)
    arcs.emplace(graph.ids[std::size_t(graph.graph.columns[std::size_t(e)])],
                 graph.graph.weights.empty() ? 1.F : graph.graph.weights[std::size_t(e)]);
  return arcs;
}

/// Rows that take part, their arcs where some layer computes them, and their degrees in the subgraph.
void expect_rows(const ServerGraph& graph, const HeldByServer& held, int layers) {
  std::set<VertexId> there;
  for (std::size_t row = 0; row < graph.ids.size(); ++row) {
    const VertexId id = graph.ids[row];
    ASSERT_TRUE(there.insert(id).second) << id << " is there twice";
    ASSERT_TRUE(held.distance.contains(id)) << id << " wasn't drawn";
    const int distance = held.distance.at(id);
    EXPECT_EQ(graph.distances[row], distance) << id;
    EXPECT_NEAR(graph.degrees[row], held.degree(id), 1e-9) << id;
    const auto found = arcs_of_row(graph, row);
    const bool reads = distance < layers && held.arcs.contains(id);
    EXPECT_EQ(found, reads ? held.arcs.at(id) : decltype(found)()) << id;
  }
  for (const auto& [id, distance] : held.distance)
    EXPECT_EQ(there.contains(id), distance <= layers) << id << " at distance " << distance;
}

/// Rank by rank: own vertices first, then by distance. What it reads of others of its server, and from how
/// near.
void expect_ranks(const ServerGraph& graph, const std::vector<std::set<VertexId>>& own) {
  for (std::size_t rank = 0; rank < own.size(); ++rank) {
    const auto begin = std::size_t(graph.part_offsets[rank]), end = std::size_t(graph.part_offsets[rank + 1]);
    std::set<VertexId> first(graph.ids.begin() + std::ptrdiff_t(begin),
                             graph.ids.begin() + std::ptrdiff_t(begin) + graph.counted[rank]);
    EXPECT_EQ(first, own[rank]) << "rank " << rank;
    EXPECT_TRUE(std::is_sorted(graph.distances.begin() + std::ptrdiff_t(begin),
                               graph.distances.begin() + std::ptrdiff_t(end)));
    std::map<VertexId, std::int32_t> read;  // another's row: the nearest that reads it
    for (std::size_t row = begin; row < end; ++row)
      for (Index e = graph.graph.offsets[row]; e < graph.graph.offsets[row + 1]; ++e) {
        const VertexId other = graph.graph.columns[std::size_t(e)];
        if (std::size_t(other) >= begin && std::size_t(other) < end) continue;
        const auto [place, is_new] = read.emplace(other, graph.distances[row]);
        place->second = std::min(place->second, graph.distances[row]);
      }
    std::map<VertexId, std::int32_t> halo;
    for (std::size_t i = 0; i < graph.halos[rank].size(); ++i)
      halo[graph.halos[rank][i]] = graph.near[rank][i];
    EXPECT_EQ(halo, read) << "rank " << rank;
    EXPECT_EQ(halo.size(), graph.halos[rank].size());
  }
}

TEST_P(Servers, HoldWhatAPlainSearchFinds) {
  for (const int first : {0, 2})
    for (const int hops : {0, 1, 2, 3})
      for (const int fanout : {1, 2, 3, -1})
        for (const int layers : {1, 2, 3}) {
          SCOPED_TRACE(testing::Message() << "server of part " << first << ", " << hops << " hops, fanout "
                                          << fanout << ", " << layers << " layers");
          const ServerOptions o = options(first, hops, fanout, layers);
          const ServerGraph graph = server_graph(prepared_, o);
          expect_rows(graph, search(o, own(first, kTogether)), layers);
          expect_ranks(graph, {own(first, 1), own(first + 1, 1)});
        }
}

/// Whatever the epoch has drawn, and no two epochs the same.
TEST_P(Servers, DrawEachEpochByItself) {
  std::set<std::vector<VertexId>> all;
  for (const std::uint64_t epoch : {1, 2, 3, 50}) {
    const ServerOptions o = options(0, 2, 1, 2, epoch);
    const ServerGraph graph = server_graph(prepared_, o);
    expect_rows(graph, search(o, own(0, kTogether)), 2);
    all.insert(graph.ids);
  }
  EXPECT_EQ(all.size(), 4U);
}

/// A batch's neighbours are copies, those on the same server too.
TEST_P(Servers, HoldOfABatchWhatAPlainSearchFinds) {
  std::vector<VertexId> batch;
  std::set<VertexId> own;
  for (Index row = prepared_.part_offsets()[0]; row < prepared_.part_offsets()[2]; row += 3) {
    const VertexId id = prepared_.ids()[std::size_t(row)];
    if (GetParam().transforms.induced && marks_[std::size_t(id)] == 0) continue;
    batch.push_back(VertexId(row)), own.insert(id);
  }
  for (const int fanout : {1, 2, -1}) {
    ServerOptions o = options(0, 2, fanout, 2);
    o.batch = batch;
    expect_rows(server_graph(prepared_, o), search(o, own), 2);
  }
}

/// Where all is there that the layers depend on, degrees are the whole graph's, whose result it is.
TEST_P(Servers, KeepTheGraphsDegreesWhereNothingIsSampled) {
  ServerOptions o = options(0, 1, -1, 1);
  o.samples = false;
  const ServerGraph graph = server_graph(prepared_, o);
  bool differs = false;
  const HeldByServer held = search(o, own(0, kTogether));
  for (std::size_t row = 0; row < graph.ids.size(); ++row) {
    double sum = 0;
    if (arcs_.contains(graph.ids[row]))
      for (const auto& [other, weight] : arcs_.at(graph.ids[row])) sum += weight;
    EXPECT_NEAR(graph.degrees[row], sum, 1e-9) << graph.ids[row];
    differs = differs || std::abs(sum - held.degree(graph.ids[row])) > 1e-9;
  }
  EXPECT_TRUE(differs) << "the subgraph's are others";
}

using SelfLoops = GraphTransforms::SelfLoops;
INSTANTIATE_TEST_SUITE_P(
    Graphs, Servers,
    testing::Values(Case{"directed", {120, 500, 1}},
                    Case{"weighted", {160, 500, 2, true}, {.self_loops = SelfLoops::kAdd}},
                    Case{"inductive", {400, 8000, 3}, {.self_loops = SelfLoops::kAdd, .induced = true}},
                    Case{"metis", {120, 500, 4}, {}, "metis"}),
    [](const auto& each) { return each.param.name; });

/// The draw itself, which the search above shares: how often each vertex is a copy, by the raw arcs. A vertex
/// with d neighbours outside asks for a given one with probability min(1, k/d), and asks by itself.
TEST(ExpansionDraws, TakeEachNeighbourAsOftenAsAnyOther) {
  constexpr int kEpochs = 600;
  TemporaryFolder folder;
  const Dataset data = sample_dataset(folder.path() / "sample", {150, 1800, 7});
  const auto prepared = PreparedGraph::make(data, {"hash", 2}, {}, {});
  const ArcsById arcs = arcs_by_id(data, false);
  const auto first = prepared.ids().first(std::size_t(prepared.part_offsets()[1]));
  const std::set<VertexId> own(first.begin(), first.end());
  for (const int fanout : {1, 3, 6}) {
    std::map<VertexId, double> missed;  // by vertex outside: P that nobody asks for it
    for (const VertexId v : own) {
      const auto outside = drawn_neighbours(arcs, own, v, {});
      for (const VertexId other : outside)
        missed.emplace(other, 1).first->second *= 1 - std::min(1.0, double(fanout) / double(outside.size()));
    }
    std::map<VertexId, int> times;
    double copies = 0, expected = 0, variance = 0;
    for (int epoch = 1; epoch <= kEpochs; ++epoch) {
      ServerOptions o{.parts = 1, .max_hop = 1, .fanout = fanout, .layers = 1};
      o.epoch = std::uint64_t(epoch);
      const ServerGraph graph = server_graph(prepared, o);
      for (const VertexId id : graph.ids) times[id] += own.contains(id) ? 0 : 1;
      copies += double(graph.ids.size() - own.size());
    }
    for (const auto& [other, miss] : missed) {
      const double error = std::sqrt(miss * (1 - miss) / kEpochs);
      EXPECT_NEAR(times[other] / double(kEpochs), 1 - miss, 4.5 * error + 1e-12)
          << other << ", fanout " << fanout;
      expected += 1 - miss, variance += miss * (1 - miss);
    }
    EXPECT_NEAR(copies / kEpochs, expected, 4 * std::sqrt(variance / kEpochs)) << "fanout " << fanout;
  }
}

/// Further hops have no closed form: copies and arcs by drawing subsets with another generator, as often.
TEST(ExpansionDraws, AreSubsetsOfKInFurtherHopsToo) {
  constexpr int kDraws = 400;
  TemporaryFolder folder;
  const Dataset data = sample_dataset(folder.path() / "sample", {150, 1200, 8});
  const auto prepared = PreparedGraph::make(data, {"hash", 3}, {}, {});
  const ArcsById arcs = arcs_by_id(data, false);
  const auto first = prepared.ids().first(std::size_t(prepared.part_offsets()[1]));
  const std::set<VertexId> own(first.begin(), first.end());
  std::mt19937_64 generator(1);
  struct Moments {
    double sum = 0, squares = 0;
    void add(double value) { sum += value, squares += value * value; }
    double mean() const { return sum / kDraws; }
    double variance() const { return squares / kDraws - mean() * mean(); }
  };
  for (const int fanout : {1, 3}) {
    Moments simulated_rows, simulated_arcs, rows, read;
    for (int draw = 1; draw <= kDraws; ++draw) {
      std::set<VertexId> all = own, last = own;
      for (int hop = 0; hop < 2; ++hop) {
        std::set<VertexId> asked;
        for (const VertexId v : last) {
          const auto outside = drawn_neighbours(arcs, own, v, {});
          std::ranges::sample(outside, std::inserter(asked, asked.end()), fanout, generator);
        }
        last.clear();
        std::ranges::set_difference(asked, all, std::inserter(last, last.end()));
        all.insert(last.begin(), last.end());
      }
      double between = 0;
      for (const VertexId v : all)
        for (const auto& [other, weight] : arcs.at(v)) between += all.contains(other);
      simulated_rows.add(double(all.size())), simulated_arcs.add(between);
      ServerOptions o{
          .parts = 1, .max_hop = 2, .fanout = fanout, .layers = 20};  // all that is there is computed
      o.epoch = std::uint64_t(draw);
      const ServerGraph graph = server_graph(prepared, o);
      rows.add(double(graph.ids.size())), read.add(double(graph.graph.arcs()));
    }
    const auto expect_alike = [&](const Moments& one, const Moments& other, const char* what) {
      const double error = std::sqrt((one.variance() + other.variance()) / kDraws);
      EXPECT_NEAR(one.mean(), other.mean(), 4 * error) << what << ", fanout " << fanout;
      EXPECT_LT(4 * error, 0.03 * one.mean()) << "too few draws to tell";
    };
    expect_alike(simulated_rows, rows, "vertices");
    expect_alike(simulated_arcs, read, "arcs");
  }
}

}  // namespace
}  // namespace atl
