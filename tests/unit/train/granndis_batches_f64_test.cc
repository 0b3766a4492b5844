// Strategy `granndis` in batches: each step of an epoch trains some of a server's vertices, with what they
// depend on, divided over the server's ranks, while the next batch is read. A step learns what `graph` learns
// from the batch's vertices (float64).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/error.h"
#include "dataset/splits.h"
#include "train/every_model.h"
#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Divided so that a server owns the same vertices however many ranks it has.
Job batches_job(const std::vector<std::string>& fields, int ranks, int together, const std::string& options,
                const std::string& partitioner = "range") {
  return granndis_job(fields, ranks, together, options, partitioner);
}

/// Of the share that a rank trains on, its own vertices.
std::vector<VertexId> own_vertices(SmallRank& rank) {
  const LocalGraph& graph = *rank.data.training_part().graph;
  return {graph.ids.begin(), graph.ids.begin() + graph.counted};
}

/// By step of an epoch, the vertices that all ranks train on.
std::vector<std::multiset<VertexId>> batches_of(const Job& job, const std::filesystem::path& data) {
  std::vector<std::vector<std::vector<VertexId>>> seen(std::size_t(job.placement.ranks));
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      rank.trainer->train_step(step, 0.01);
      seen[std::size_t(comm.rank())].push_back(own_vertices(rank));
    }
  });
  std::vector<std::multiset<VertexId>> all(seen[0].size());
  for (const auto& of_rank : seen)
    for (std::size_t b = 0; b < all.size(); ++b) all[b].insert(of_rank[b].begin(), of_rank[b].end());
  return all;
}

TEST(Batches, HaveEachVertexOnceInAnEpochAndAreThoseOfTheServerNotOfItsRanks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.02});
  for (const std::string partitioner : {"range", "metis"}) {
    const auto two = batches_of(batches_job({}, 2, 1, "{batches: 3}", partitioner), folder / "small");
    ASSERT_EQ(two.size(), 3U);
    std::multiset<VertexId> all;
    for (const auto& batch : two) all.insert(batch.begin(), batch.end());
    EXPECT_EQ(all.size(), 200U);
    EXPECT_EQ(std::set<VertexId>(all.begin(), all.end()).size(), 200U);
    EXPECT_EQ(two, batches_of(batches_job({}, 4, 2, "{batches: 3}", partitioner), folder / "small"));
    EXPECT_EQ(two, batches_of(batches_job({}, 6, 3, "{batches: 3}", partitioner), folder / "small"));
  }
}

TEST(Batches, LearnTheSameOnAnyRanksOfAServer) {
  for (const SmallCase& each : every_model()) {
    TemporaryFolder folder;
    write_small_data(folder / "small", each.data);
    for (const std::string options :
         {"{maxHop: 0, fanout: -1, batches: 2}", "{maxHop: 2, fanout: 2, batches: 3}",
          "{maxHop: 1, fanout: 1, batches: 2, redraw: epoch}"}) {
      const auto run = [&](int ranks, int together) {
        return train_small(batches_job(each.fields, ranks, together, options), folder / "small", ranks, 3);
      };
      const SmallResult one = run(2, 1);
      ASSERT_NE(one.losses.back(), one.losses.front()) << each.name;
      expect_same_training(one, run(4, 2), each.name + ", 2 ranks a server, " + options);
      expect_same_training(one, run(6, 3), each.name + ", 3 ranks a server, " + options);
    }
  }
}

/// A data set where the first batch's vertices alone are training vertices: `graph` then learns from it what
/// the first step learns.
class FirstStep : public testing::TestWithParam<SmallCase> {};

TEST_P(FirstStep, IsThatOfGraphOverTheBatchsTrainingVertices) {
  const SmallCase& c = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  for (const auto& [ranks, together] : {std::pair{2, 1}, {4, 2}}) {
    const Job job = batches_job(c.fields, ranks, together, "{maxHop: 0, fanout: -1, batches: 3}");
    std::vector<std::vector<VertexId>> batch(std::size_t(ranks), std::vector<VertexId>{});
    SmallResult first;
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      double loss = rank.trainer->train_step(1, job.training.optimizer.learning_rate);
      batch[std::size_t(comm.rank())] = own_vertices(rank);
      comm.all_reduce(Traffic::kStatistics, std::span<double>(&loss, 1));
      const SmallResult mine = result_of({loss / rank.trainer->step_vertices()}, *rank.trainer);
      if (comm.rank() == 0) first = mine;
    });
    std::set<VertexId> in_batch;
    for (const auto& each : batch) in_batch.insert(each.begin(), each.end());
    SmallResult graph;
    run_ranks(1, [&](Communicator& comm) {
      SmallRank rank(comm, small_job(c.fields), folder / "small", 1);
      std::erase_if(rank.data.train.rows, [&](VertexId row) {
        return in_batch.count(rank.data.owned_ids()[std::size_t(row)]) == 0;
      });
      rank.data.train.placed = rank.data.train.rows;
      rank.data.train.total = double(rank.data.train.rows.size());
      graph = train_rank(comm, rank, 1);
    });
    expect_same_training(graph, first, c.name + ", " + std::to_string(ranks) + " ranks");
  }
}

/// Without statistics over vertices, which are of the batch's alone.
std::vector<SmallCase> without_batch_norm() {
  std::vector<SmallCase> all = every_model();
  for (const SmallCase& each : every_model_on_other_data()) all.push_back(each);
  for (SmallCase& each : all)
    for (std::string& field : each.fields)
      if (field == "model.norm=batch") field = "model.norm=layer";
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, FirstStep, testing::ValuesIn(without_batch_norm()),
                         [](const auto& each) { return each.param.name; });

/// One that was killed goes on with the batch that was next.
TEST(Batches, AreFoundAgainFromAnyStep) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = batches_job({}, 2, 1, "{fanout: 1, batches: 3, redraw: epoch}");
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    std::map<std::int64_t, std::vector<VertexId>> seen;
    for (const std::int64_t step : {1, 2, 3, 4, 5, 6, 5, 2, 3, 1, 6}) {
      rank.trainer->train_step(step, 0.01);
      const std::vector<VertexId>& ids = rank.data.training_part().graph->ids;
      const auto [place, is_new] = seen.emplace(step, ids);
      EXPECT_EQ(place->second, ids) << step;
    }
    EXPECT_NE(seen[1], seen[2]);
    EXPECT_NE(seen[1], seen[4]) << "drawn anew";
  });
}

struct Edge {
  std::string name, options, partitioner;
  SmallData data;
};

TEST(BatchesOfFewVertices, AreTrained) {
  for (const Edge& e : std::vector<Edge>{
           // The last server has a component without training vertices: it trains on its share of no loss.
           {"no_training_vertices", "{batches: 3}", "range", {.strangers = 80}},
           {"hardly_any_arcs", "{batches: 3}", "hash", {.arc_share = 0.005}},
           {"a_training_vertex_each", "{maxHop: 0, fanout: -1, batches: 6}", "range", {.vertices = 36}}}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", e.data);
    const SmallResult result =
        train_small(batches_job({}, 4, 2, e.options, e.partitioner), folder / "small", 4, 4);
    for (const double loss : result.losses) EXPECT_TRUE(std::isfinite(loss)) << e.name;
    EXPECT_LT(result.losses.back(), result.losses.front()) << e.name;
  }
}

TEST(MoreBatchesThanTrainingVertices, AreRefusedWithTheMostThereCanBe) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});  // 18 labelled training vertices, 10 of them on the first server
  const Job job = batches_job({}, 2, 1, "{batches: 50}");
  run_ranks(2, [&](Communicator& comm) {
    EXPECT_THAT(
        [&] { SmallRank(comm, job, folder / "small", 1); },
        ThrowsMessage<Error>(HasSubstr(
            "strategy.granndis.batches: 50 is more than the 10 labelled training vertices of the server with most (use at most 10)")));
  });
}

}  // namespace
}  // namespace atl
