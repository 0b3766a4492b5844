// The step loop allocates nothing: after some epochs no rank allocates in later ones, whichever strategy
// moves the rows. Counted over the whole program, including threads that communicate. A strategy whose steps
// have parts of their own makes each of them, in memory of the part's size, not of the graph's.
#include <gtest/gtest.h>

#include <barrier>

#include "base/counted_allocations.h"
#include "train/every_model.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kRanks = 4, kSeen = 60, kCounted = 20;

class StepAllocation : public testing::TestWithParam<SmallCase> {};

TEST_P(StepAllocation, LaterEpochsMakeNone) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Job job = small_job(GetParam().fields);
  std::barrier together(kRanks);
  long made = -1;
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    long before = 0;
    for (Index epoch = 1; epoch <= kSeen + kCounted; ++epoch) {
      if (epoch == kSeen + 1) {
        together.arrive_and_wait();
        before = allocations;
        together.arrive_and_wait();
      }
      rank.trainer->train_epoch(epoch, job.training.optimizer.learning_rate);
    }
    together.arrive_and_wait();
    if (comm.rank() == 0) made = allocations - before;
    together.arrive_and_wait();
  });
  EXPECT_LT(made, kCounted)
      << "one in every epoch, or more; less is a list that the order of messages made longer than before";
}

/// A model under each strategy, and every model where rows come late and where ranks aggregate for each
/// other.
std::vector<SmallCase> cases() {
  std::vector<SmallCase> all{
      {"graph", {}},
      {"bfloat16", {"strategy.wire=bfloat16"}},
      {"pipegcn", {"strategy.kind=pipegcn", "strategy.pipegcn.smoothing=both"}},
      {"bns", {"strategy.kind=bns"}},
      {"cagnet", {"strategy.kind=cagnet"}},
      {"cagnet_replicated", {"strategy.kind=cagnet", "strategy.cagnet.replication=2"}},
      {"sancus", {"strategy.kind=sancus"}},
      {"sancus_bounded", {"strategy.kind=sancus", "strategy.sancus.rule=bounded"}},
      {"gnnpipe", {"strategy.kind=gnnpipe", "strategy.gnnpipe={stages: 2, chunks: 4, historyRefresh: 7}"}},
      {"gnnpipe_bfloat16",
       {"strategy.kind=gnnpipe", "strategy.wire=bfloat16",
        "strategy.gnnpipe={chunks: 4, historicalGradients: true}"}}};
  for (SmallCase& each : all) each.fields.insert(each.fields.end(), {"model.kind=sage", "model.norm=layer"});
  for (const SmallCase& each : every_model()) {
    all.push_back({"pipegcn_" + each.name, each.fields});
    all.back().fields.emplace_back("strategy.kind=pipegcn");
    all.push_back({"grid_" + each.name, each.fields});
    all.back().fields.insert(all.back().fields.end(),
                             {"strategy.kind=cagnet", "strategy.cagnet.replication=2"});
  }
  for (SmallCase& each : all)
    each.fields.insert(each.fields.end(), {"placement.ranks=4", "training.dropout=0.5"});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Strategies, StepAllocation, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// Nearly all vertices are strangers, which inductive training doesn't see. So a server's batches are small,
/// and a byte for each vertex of the graph would be the largest allocation by far.
TEST(StepsOfServers, TakeNoMemoryOfTheGraphsSize) {
  const SmallData data{.vertices = 200, .arc_share = 0.02, .strangers = 200'000};
  TemporaryFolder folder;
  write_small_data(folder / "small", data);
  const Job job =
      granndis_job({"training.setting=inductive"}, kRanks, 2, "{maxHop: 1, fanout: 2, batches: 3}", "hash");
  std::barrier together(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    rank.trainer->train_epoch(1, 0.01);
    together.arrive_and_wait();
    if (comm.rank() == 0) largest_allocation = 0;
    together.arrive_and_wait();
    for (Index epoch = 2; epoch <= 3; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    together.arrive_and_wait();
  });
  EXPECT_GT(largest_allocation, 0U) << "steps read parts of their own";
  EXPECT_LT(Index(largest_allocation), data.vertices + data.strangers);
}

}  // namespace
}  // namespace atl
