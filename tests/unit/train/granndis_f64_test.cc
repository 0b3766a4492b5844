// Strategy `granndis` where servers hold all that their vertices depend on: any number of servers and ranks
// learns what one rank learns under `graph`, for every model, with dropout and batch norm (float64), and only
// gradients go from server to server.
#include <gtest/gtest.h>

#include <map>

#include "train/every_model.h"
#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

class Preloading : public testing::TestWithParam<SmallCase> {};

TEST_P(Preloading, OfAllThatTheLayersDependOnIsGraph) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const SmallResult one = train_small(small_job(GetParam().fields), folder / "small", 1, 6);
  for (const auto& [ranks, together, partitioner] :
       {std::tuple{2, 1, "metis"}, {4, 2, "metis"}, {3, 3, "hash"}, {6, 2, "hash"}, {3, 1, "range"}})
    expect_same_training(
        one,
        train_small(granndis_job(GetParam().fields, ranks, together, "{maxHop: 0, fanout: -1}", partitioner),
                    folder / "small", ranks, 6),
        std::to_string(ranks) + " ranks, " + std::to_string(together) + " a server, " + partitioner);
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model();
  for (const SmallCase& each : every_model_on_other_data()) all.push_back(each);
  all.push_back({"gcn_inductive_batch_norm", {"training.setting=inductive", "model.norm=batch"}});
  all.push_back({"gat_inductive", {"model.kind=gat", "training.setting=inductive"}});
  all.push_back({"gcn_recompute", {"training.recompute=layer", "model.norm=batch"}});
  all.push_back({"gcn_multi_label",
                 {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                 {.multi_label = true}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, Preloading, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// What a server's ranks learn together is what one rank learns that has the server to itself.
TEST(ExpansionAwareSampling, LearnsTheSameOnAnyRanksOfAServer) {
  for (const SmallCase& each : every_model()) {
    TemporaryFolder folder;
    write_small_data(folder / "small", each.data);
    const auto run = [&](int ranks, int together) {
      return train_small(granndis_job(each.fields, ranks, together, "{maxHop: 1, fanout: 2}", "range"),
                         folder / "small", ranks, 4);
    };
    const SmallResult one = run(2, 1);
    ASSERT_NE(one.losses.back(), one.losses.front()) << each.name;
    expect_same_training(one, run(4, 2), each.name + ", 2 ranks a server");
    expect_same_training(one, run(6, 3), each.name + ", 3 ranks a server");
  }
}

TEST(RedrawnCopies, LearnTheSameOnAnyRanksOfAServer) {
  for (const SmallCase& each : every_model()) {
    TemporaryFolder folder;
    write_small_data(folder / "small", each.data);
    const auto run = [&](int ranks, int together) {
      return train_small(
          granndis_job(each.fields, ranks, together, "{maxHop: 2, fanout: 1, redraw: epoch}", "range"),
          folder / "small", ranks, 4);
    };
    expect_same_training(run(2, 1), run(4, 2), each.name + ", 2 ranks a server");
  }
}

/// A draw is the epoch's alone: the same again, whatever was drawn in between, and another one in each.
TEST(RedrawnCopies, AreOthersInEachEpochAndTheSameInEachOfThem) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.03});
  for (const std::string when : {"epoch", "once"}) {
    const Job job = granndis_job({}, 4, 2, "{maxHop: 1, fanout: 1, redraw: " + when + "}");
    run_ranks(4, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      std::map<Index, std::vector<VertexId>> held;
      for (const Index epoch : {1, 2, 3, 1, 2, 3}) {
        rank.trainer->train_epoch(epoch, 0.01);
        const std::vector<VertexId>& ids = rank.data.training_part().graph->ids;
        const auto [place, is_new] = held.emplace(epoch, ids);
        EXPECT_EQ(place->second, ids) << epoch;
      }
      EXPECT_EQ(held[1] == held[2], when == "once");
      EXPECT_EQ(held[2] == held[3], when == "once");
    });
  }
}

/// Copies that are farther away than there are layers change nothing; what a layer computes are the rows that
/// those behind it need.
TEST(Preloading, ComputesInEachLayerTheRowsThatLaterOnesNeed) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.01});
  for (const auto& [hops, layers] : {std::pair{0, 3}, {5, 3}, {0, 2}}) {
    const Job job = granndis_job({"model.layers=" + std::to_string(layers)}, 4, 2,
                                 fmt::format("{{maxHop: {}, fanout: -1}}", hops));
    run_ranks(4, [&, count = layers](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      const GraphPart& part = rank.data.training_part();
      ASSERT_EQ(part.near.size(), std::size_t(count));
      EXPECT_EQ(part.near.front().rows, part.graph->counted);
      EXPECT_LT(part.near.front().rows, part.near.back().rows);
      EXPECT_LT(part.near.back().rows, part.graph->owned) << "copies of the last hop are inputs";
      for (std::size_t behind = 0; behind + 1 < part.near.size(); ++behind)
        EXPECT_EQ(part.near[behind].sources, part.near[behind + 1].rows) << behind;
    });
  }
}

TEST(ExpansionAwareSampling, SendsNothingButGradientsBetweenServers) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = granndis_job({}, 4, 2, "{}");
  run_ranks(4, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    const Ledger after = comm.ledger();
    const Rank other_server = (comm.rank() + 2) % 4, same_server = comm.rank() ^ 1;
    const std::int64_t across = after.bytes_to(other_server) - before.bytes_to(other_server),
                       inside = after.bytes_to(same_server) - before.bytes_to(same_server),
                       halo = after.bytes(Link::kIntra, Traffic::kHalo) -
                              before.bytes(Link::kIntra, Traffic::kHalo),
                       back = after.bytes(Link::kIntra, Traffic::kHaloGradient) -
                              before.bytes(Link::kIntra, Traffic::kHaloGradient);
    EXPECT_GT(halo, 0);
    EXPECT_EQ(inside, across + halo + back);
  });
}

}  // namespace
}  // namespace atl
