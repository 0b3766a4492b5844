// What is planned of mini-batches, whose epochs have no more steps than the plan draws, is what a run sends.
#include <gtest/gtest.h>

#include "plan/job_plan.h"
#include "train/every_model.h"

namespace atl {
namespace {

class PlannedBatches : public testing::TestWithParam<SmallCase> {};

TEST_P(PlannedBatches, SendWhatARunSends) {
  constexpr int kRanks = 3;
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields = GetParam().fields;
  fields.insert(fields.end(),
                {"strategy.kind=minibatch", "strategy.minibatch.batchSize=7", "placement.ranks=3",
                 "training.epochs=1", "placement.partitioner={kind: hash, parts: 5}"});
  std::string fanout;
  for (int layer = gathering_layers(small_job(fields).model); layer > 1; --layer) fanout += "2, ";
  fields.push_back("strategy.minibatch.fanout=[" + fanout + "-1]");
  const Job job = small_job(fields);
  std::vector<TrafficBytes> seen(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      std::array<double, 4> sums{rank.trainer->train_step(step, 0.01)};
      // As EpochLoop does; the last one's bytes are told in it.
      if (step < rank.trainer->steps()) comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    }
    const Ledger after = comm.ledger();
    for (int p = 0; p < kTraffics; ++p)
      seen[std::size_t(comm.rank())][std::size_t(p)] =
          after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::open(dataset, partition_options(job, kRanks), graph_transforms(job),
                                            training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
  ASSERT_EQ(plan.ranks.size(), std::size_t(kRanks));
  for (const RankPlan& rank : plan.ranks) {
    for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
      EXPECT_EQ(rank.epoch[p], seen[std::size_t(rank.shape.rank)][p])
          << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank;
    EXPECT_GT(rank.epoch[std::size_t(Traffic::kFeatures)], 0);
    EXPECT_GT(rank.memory.passes, 0);
    EXPECT_GT(rank.memory.inference, 0);
    const bool mapped = GetParam().name == "mapped";
    const Index rows = mapped ? prepared.graph().rows : rank.shape.owned;
    const Index arcs = mapped ? prepared.graph().arcs() : rank.shape.own_arcs;
    EXPECT_EQ(rank.memory.pages, 8 * (rows + 1) + (GetParam().data.weighted ? 8 : 4) * arcs);
    EXPECT_GT(rank.memory.peak(), rank.memory.passes + rank.memory.inference);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, PlannedBatches, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(All, PlannedBatches,
                         testing::Values(SmallCase{"gcn", {}},
                                         SmallCase{"sage", {"model.kind=sage"}, {.weighted = true}},
                                         SmallCase{"batch_norm", {"model.norm=batch"}},
                                         SmallCase{"mapped", {"strategy.minibatch.structure=mapped"}},
                                         SmallCase{"half", {"strategy.wire=bfloat16"}},
                                         SmallCase{"replaced", {"strategy.minibatch.replace=true"}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
