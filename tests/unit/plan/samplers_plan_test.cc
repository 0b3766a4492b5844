// The plan of samplers that draw vertices for a whole step equals the bytes of a run, from the prepared graph
// and from the data set alone.
#include <gmock/gmock.h>

#include "plan/job_plan.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kRanks = 3;
const PlanOptions kOptions{1, {1e9, 1e9, 1e9}, 1e9};

/// By rank: bytes of an epoch and an evaluation behind it, by purpose.
std::vector<TrafficBytes> bytes_of_run(const Job& job, const std::filesystem::path& dataset) {
  std::vector<TrafficBytes> seen(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, dataset, 1);
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      std::array<double, 4> sums{rank.trainer->train_step(step, 0.01)};
      if (step < rank.trainer->steps()) comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    }
    const Ledger after = comm.ledger();
    for (int p = 0; p < kTraffics; ++p)
      seen[std::size_t(comm.rank())][std::size_t(p)] =
          after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    rank.trainer->evaluate();
    seen[std::size_t(comm.rank())][std::size_t(Traffic::kEvaluation)] =
        comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation);
  });
  return seen;
}

/// Of all but `neighbour`, which minibatch_plan_test.cc has.
std::map<std::string, std::string> planned_samplers() {
  auto all = every_sampler();
  all["historical"] = "sampler: historical, batchSize: 3, historyRows: 9, maxAge: 3, delay: 2";
  all["historical_mapped"] = "sampler: historical, batchSize: 7, structure: mapped";
  return all;
}

class PlannedSamplers : public testing::TestWithParam<SmallCase> {};

TEST_P(PlannedSamplers, SendWhatARunSends) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Dataset dataset = Dataset::open(folder / "small");
  for (const auto& [name, options] : planned_samplers()) {
    SCOPED_TRACE(name);
    std::vector<std::string> fields = GetParam().fields;
    fields.emplace_back("training.epochs=1");
    const Job job = sampler_job(fields, options, kRanks);
    const std::vector<TrafficBytes> seen = bytes_of_run(job, folder / "small");
    const auto prepared = PreparedGraph::make(dataset, partition_options(job, kRanks), graph_transforms(job),
                                              training_marks(dataset, job));
    const JobPlan from_prepared = plan_job(job, dataset, prepared, kOptions);
    const JobPlan from_dataset = plan_job(job, dataset, kOptions);
    for (const JobPlan* plan : {&from_prepared, &from_dataset})
      for (const RankPlan& rank : plan->ranks) {
        for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
          EXPECT_EQ(rank.epoch[p] + rank.evaluation[p], seen[std::size_t(rank.shape.rank)][p])
              << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank << ", "
              << (plan == &from_prepared ? "prepared" : "data set");
        EXPECT_GT(rank.epoch[std::size_t(Traffic::kFeatures)], 0);
        EXPECT_GT(rank.memory.passes, 0);
      }
  }
}

INSTANTIATE_TEST_SUITE_P(All, PlannedSamplers,
                         testing::Values(SmallCase{"gcn", {}},
                                         SmallCase{"sage", {"model.kind=sage"}, {.weighted = true}},
                                         SmallCase{"gat", {"model.kind=gat"}},
                                         SmallCase{"batch_norm", {"model.norm=batch"}},
                                         SmallCase{"inductive", {"training.setting=inductive"}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
