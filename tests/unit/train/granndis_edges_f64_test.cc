// Strategy `granndis` where servers have nothing to copy, nothing to train on, or nothing at all: it learns
// what one rank learns under `graph` (float64).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;

struct Edge {
  std::string name;
  int ranks, together;
  std::string partitioner;
  SmallData data;
  std::vector<std::string> fields = {};
};

std::ostream& operator<<(std::ostream& out, const Edge& e) {
  return out << e.name;
}

Job job_of(const Edge& e, const std::string& options) {
  std::vector<std::string> all = e.fields;
  all.insert(all.end(), {"strategy.kind=granndis", "strategy.granndis=" + options, "model.norm=batch",
                         fmt::format("placement.ranks={}", e.ranks), "placement.partitioner=" + e.partitioner,
                         fmt::format("placement.ranksPerServer={}", e.together)});
  return small_job(all);
}

class EmptyServers : public testing::TestWithParam<Edge> {};

TEST_P(EmptyServers, LearnWhatOneRankLearns) {
  const Edge& e = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", e.data);
  std::vector<std::string> alone = e.fields;
  alone.emplace_back("model.norm=batch");
  const SmallResult one = train_small(small_job(alone), folder / "small", 1, 4);
  expect_same_training(one, train_small(job_of(e, "{maxHop: 0, fanout: -1}"), folder / "small", e.ranks, 4),
                       e.name);
}

TEST_P(EmptyServers, TrainOnASample) {
  const Edge& e = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", e.data);
  for (const char* options : {"{}", "{maxHop: 3, fanout: 1, redraw: epoch}"}) {
    const SmallResult result = train_small(job_of(e, options), folder / "small", e.ranks, 4);
    EXPECT_LT(result.losses.back(), result.losses.front()) << options;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Edges, EmptyServers,
    testing::Values(
        Edge{"hardly_any_arcs", 4, 2, "hash", {.arc_share = 0.005}},
        // The last server has vertices without arcs and labels: a component of its own, with nothing to train
        // on …
        Edge{"no_training_vertices", 4, 2, "range", {.strangers = 80}},
        // … and in inductive training no vertices.
        Edge{"no_vertices", 4, 2, "range", {.strangers = 80}, {"training.setting=inductive"}},
        Edge{"nearly_as_many_ranks_as_vertices", 8, 2, "range", {.vertices = 10, .arc_share = 0.5}},
        Edge{"all_on_one_server", 3, 3, "metis", {}}),
    [](const auto& each) { return each.param.name; });

/// Vertices of each of two servers, with so many ranks each.
std::vector<std::set<VertexId>> servers_of(const std::string& partitioner, int together) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.02});
  const Job job = job_of({"", 2 * together, together, partitioner, {}}, "{}");
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2 * together),
                                            graph_transforms(job), training_marks(dataset, job));
  std::vector<std::set<VertexId>> servers(2);
  const Index half = prepared.part_offsets()[std::size_t(together)];
  for (Index row = 0; row < Index(prepared.ids().size()); ++row)
    servers[row < half ? 0 : 1].insert(prepared.ids()[std::size_t(row)]);
  return servers;
}

/// The graph is divided over servers first: their ranks, however many, have no say in it but where it is
/// divided at random.
TEST(Partitioners, DivideTheGraphOverServersBeforeTheirRanks) {
  for (const std::string partitioner : {"metis", "hash", "range"}) {
    const auto servers = servers_of(partitioner, 1);
    EXPECT_GT(servers[0].size(), 70U) << partitioner;
    EXPECT_GT(servers[1].size(), 70U) << partitioner;
    for (const int together : {2, 3})
      EXPECT_EQ(servers_of(partitioner, together) == servers, partitioner != "hash") << partitioner;
    const bool contiguous = *servers[0].rbegin() < *servers[1].begin();
    EXPECT_EQ(contiguous, partitioner == "range") << partitioner;
  }
}

TEST(MoreServersThanVertices, AreRefusedWithTheFieldAndTheRemedy) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 10, .arc_share = 0.5});
  const Job job = job_of({"", 12, 2, "metis", {}}, "{}");
  const Dataset dataset = Dataset::open(folder / "small");
  try {
    PreparedGraph::make(dataset, partition_options(job, 12), graph_transforms(job),
                        training_marks(dataset, job));
    FAIL() << "twelve parts of ten vertices";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("10")) << error.what();
    EXPECT_THAT(error.what(), HasSubstr("12")) << error.what();
  }
}

}  // namespace
}  // namespace atl
