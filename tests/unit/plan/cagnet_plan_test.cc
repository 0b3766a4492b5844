// The plan of 1.5D equals a run: bytes on the wire, buffers and scratch memory, to the byte.
#include <gtest/gtest.h>

#include "job/strategies.h"
#include "plan/job_plan.h"
#include "plan/traffic.h"
#include "train/every_model.h"

namespace atl {
namespace {

class PlannedGrid : public testing::TestWithParam<SmallCase> {};

TEST_P(PlannedGrid, AgreesToTheByte) {
  constexpr int kRanks = 4;
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<std::string> fields = GetParam().fields;
  fields.insert(fields.end(),
                {"strategy.kind=cagnet", "strategy.cagnet={replication: 2}", "placement.ranks=4"});
  const Job job = small_job(fields);
  struct Seen {
    TrafficBytes epoch{};
    ScheduleBytes schedule;
    Index workspace = 0;
  };
  std::vector<Seen> seen(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 2);
    Seen& mine = seen[std::size_t(comm.rank())];
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    for (int p = 0; p < kTraffics; ++p)
      mine.epoch[std::size_t(p)] =
          comm.ledger().bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    rank.trainer->evaluate();
    mine.schedule = rank.trainer->bytes();
    mine.workspace = rank.workspace.bytes();
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::open(dataset, partition_options(job, kRanks), graph_transforms(job),
                                            training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {2, {1e9, 1e9, 1e9}, 1e9});
  for (const RankPlan& r : plan.ranks) {
    const Seen& real = seen[std::size_t(r.shape.rank)];
    EXPECT_EQ(r.epoch, real.epoch) << "rank " << r.shape.rank;
    for (const MemoryItem& item : r.memory.items) {
      const bool one_schedule = job.training.setting != Setting::kInductive;  // otherwise two are summed
      const Index held = item.name == "scratch"                              ? real.workspace
                         : item.name == "halo rows" && one_schedule          ? real.schedule.halo
                         : item.name == "saved for backward" && one_schedule ? real.schedule.saved
                                                                             : item.bytes;
      EXPECT_EQ(item.bytes, held) << item.name << ", rank " << r.shape.rank;
    }
  }
  const FeatureShape features = feature_shape(job, dataset.meta());
  const Model model = planned_model(job, features, dataset.meta().classes);
  const EpochTraffic formula =
      find_strategy("cagnet")->traffic(job.strategy.options, traffic_shape(job, dataset, model, prepared));
  EXPECT_EQ(formula.halo, plan.epoch[std::size_t(Traffic::kHalo)]);
  EXPECT_EQ(formula.halo_gradient, plan.epoch[std::size_t(Traffic::kHaloGradient)]);
  EXPECT_EQ(formula.recompute, plan.epoch[std::size_t(Traffic::kRecompute)]);
}

INSTANTIATE_TEST_SUITE_P(Every, PlannedGrid, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(
    Models, PlannedGrid,
    testing::Values(SmallCase{"gcn", {}}, SmallCase{"gcn_recompute", {"training.recompute=layer"}},
                    SmallCase{"gcn_transform_first", {"training.inputDropout={rate: 0.3}"}, {.features = 20}},
                    SmallCase{"gcn_aggregate_first", {"training.inputDropout={rate: 0.3}"}},
                    SmallCase{"sage_inductive", {"model.kind=sage", "training.setting=inductive"}},
                    SmallCase{"gcn_bfloat16", {"strategy.wire=bfloat16", "training.recompute=layer"}},
                    SmallCase{"gat",
                              {"model.kind=gat", "model.options={heads: 4}", "training.recompute=layer"}},
                    SmallCase{"gat_bfloat16", {"model.kind=gat", "strategy.wire=bfloat16"}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
