// Strategy `granndis` with fewer `hops` than layers: the first layers read what the server holds, the others
// exchange rows with all ranks. Where the server holds everything that the first layers depend on, the result
// equals that of one rank under `graph` (float64). Between servers go only gradients and the rows that the
// other layers read.
#include <gtest/gtest.h>

#include "train/every_model.h"
#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

class FewerHops : public testing::TestWithParam<SmallCase> {};

TEST_P(FewerHops, AreGraph) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const SmallResult one = train_small(small_job(GetParam().fields), folder / "small", 1, 5);
  for (const auto& [hops, ranks, together, partitioner] : {std::tuple{1, 2, 1, "metis"},
                                                           {1, 4, 2, "metis"},
                                                           {2, 4, 2, "hash"},
                                                           {2, 2, 1, "range"},
                                                           {1, 3, 3, "hash"}})
    expect_same_training(
        one,
        train_small(granndis_job(GetParam().fields, ranks, together,
                                 fmt::format("{{hops: {}, maxHop: 0, fanout: -1}}", hops), partitioner),
                    folder / "small", ranks, 5),
        fmt::format("{} hops, {} ranks, {} a server, {}", hops, ranks, together, partitioner));
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model();
  for (const SmallCase& each : every_model_on_other_data()) all.push_back(each);
  all.push_back({"gcn_inductive_batch_norm", {"training.setting=inductive", "model.norm=batch"}});
  all.push_back({"gat_inductive", {"model.kind=gat", "training.setting=inductive"}});
  all.push_back({"gcnii_inductive", {"model.kind=gcnii", "training.setting=inductive"}});
  all.push_back({"sgc_precomputed", {"model.kind=sgc", "model.options={hops: 3}"}});
  all.push_back({"gcn_recompute", {"training.recompute=layer", "model.norm=batch"}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, FewerHops, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// Layers behind read all neighbours, whatever the first ones' sample: a server's ranks still have no say in
/// it.
TEST(HopsOfASample, LearnTheSameOnAnyRanksOfAServer) {
  for (const SmallCase& each : every_model()) {
    TemporaryFolder folder;
    write_small_data(folder / "small", each.data);
    for (const std::string options :
         {"{hops: 1, fanout: 2}", "{hops: 2, maxHop: 1, fanout: 1, redraw: epoch}"}) {
      const auto run = [&](int ranks, int together) {
        return train_small(granndis_job(each.fields, ranks, together, options, "range"), folder / "small",
                           ranks, 4);
      };
      const SmallResult one = run(2, 1);
      ASSERT_NE(one.losses.back(), one.losses.front()) << each.name;
      expect_same_training(one, run(4, 2), each.name + ", " + options);
    }
  }
}

/// Rows of other servers that a part reads.
Index rows_from_other_servers(const PreparedGraph& prepared, int part, int together) {
  const int first = part / together * together;
  const Index begin = prepared.part_offsets()[std::size_t(first)],
              end = prepared.part_offsets()[std::size_t(first + together)];
  return std::ranges::count_if(prepared.halo(part), [&](VertexId row) { return row < begin || row >= end; });
}

struct Sent {
  std::int64_t to_other_servers = 0, inside = 0;
};

/// By all ranks in an epoch, gradients of the weights left out: those are what a run without rows to exchange
/// sends.
Sent sent_by(const Job& job, const std::filesystem::path& data, int together) {
  const int ranks = job.placement.ranks;
  std::vector<Sent> sent(std::size_t(ranks), Sent{});
  run_ranks(ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    const Ledger after = comm.ledger();
    for (Rank peer = 0; peer < ranks; ++peer) {
      const std::int64_t bytes = after.bytes_to(peer) - before.bytes_to(peer);
      Sent& mine = sent[std::size_t(comm.rank())];
      (peer / together == comm.rank() / together ? mine.inside : mine.to_other_servers) += bytes;
    }
  });
  Sent all;
  for (const Sent& each : sent) all.inside += each.inside, all.to_other_servers += each.to_other_servers;
  return all;
}

TEST(FewerHops, SendBetweenServersTheRowsThatLayersBehindReadAndNothingElse) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200, .arc_share = 0.01});
  constexpr int kRanks = 4, kTogether = 2, kLayers = 4, kHidden = 8;
  const auto job = [&](int hops) {
    return granndis_job({"model={kind: sage, layers: 4, hidden: 8}"}, kRanks, kTogether,
                        fmt::format("{{hops: {}, maxHop: 0, fanout: -1}}", hops));
  };
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job(1), kRanks),
                                            graph_transforms(job(1)), training_marks(dataset, job(1)));
  Index rows = 0;
  for (int part = 0; part < kRanks; ++part) rows += rows_from_other_servers(prepared, part, kTogether);
  const std::int64_t gradients = sent_by(job(0), folder / "small", kTogether).to_other_servers;
  EXPECT_EQ(sent_by(job(kLayers), folder / "small", kTogether).to_other_servers, gradients);
  for (int hops = 1; hops < kLayers; ++hops)
    EXPECT_EQ(sent_by(job(hops), folder / "small", kTogether).to_other_servers,
              gradients + 2 * (kLayers - hops) * rows * kHidden * std::int64_t(sizeof(Real)))
        << hops;
}

TEST(FewerHops, AreFewerCopies) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 300, .arc_share = 0.006});
  std::vector<Index> copies;
  for (int hops = 1; hops <= 3; ++hops) {
    const Job job = granndis_job({}, 2, 1, fmt::format("{{hops: {}, maxHop: 0, fanout: -1}}", hops));
    std::vector<Index> of_rank(2);
    run_ranks(2, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      const LocalGraph& graph = *rank.data.training_part().graph;
      of_rank[std::size_t(comm.rank())] = graph.owned - graph.counted;
    });
    copies.push_back(of_rank[0] + of_rank[1]);
  }
  EXPECT_GT(copies[0], 0);
  EXPECT_LT(copies[0], copies[1]);
  EXPECT_LT(copies[1], copies[2]);
}

}  // namespace
}  // namespace atl
