// The plan of `dgs`: bytes of an epoch once masks apply, where all neighbours are read, and a rank's memory
// for explanations.
#include <gmock/gmock.h>

#include "plan/job_plan.h"
#include "train/every_model.h"

namespace atl {
namespace {

constexpr int kRanks = 3, kEpochs = 4;

/// One batch of all training vertices and all neighbours an epoch: batches are the same in each.
Job dgs_job(const std::string& kind, const std::string& options) {
  return small_job({"model.kind=sage", "model.layers=2", "strategy.kind=" + kind,
                    "strategy." + kind + "={batchSize: 100, fanout: [-1, -1]" + options + "}",
                    fmt::format("placement.ranks={}", kRanks), "placement.partitioner={kind: hash, parts: 5}",
                    fmt::format("training.epochs={}", kEpochs)});
}

JobPlan plan_of(const Job& job, const Dataset& dataset) {
  return plan_job(job, dataset,
                  PreparedGraph::make(dataset, partition_options(job, kRanks), graph_transforms(job),
                                      training_marks(dataset, job)),
                  {1, {1e9, 1e9, 1e9}, 1e9});
}

TEST(PlannedMasks, SendWhatARunSends) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = 20});
  const Dataset dataset = Dataset::open(folder / "small");
  const Job job = dgs_job("dgs", ", featureRate: 0.5, explainEvery: 1, explainEpochs: 3");
  const JobPlan masked = plan_of(job, dataset), whole = plan_of(dgs_job("minibatch", ""), dataset);
  std::vector<TrafficBytes> seen(kRanks);
  std::vector<Index> held(kRanks), state(kRanks), evaluated(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= kEpochs; ++step) rank.trainer->train_step(step, 0.01);
    const auto me = std::size_t(comm.rank());
    for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
      seen[me][p] = comm.ledger().bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    held[me] = rank.trainer->bytes().saved;
    rank.trainer->evaluate();
    evaluated[me] = comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation);
    for (const NamedMatrix& each : rank.trainer->state())
      state[me] += each.values.rows * each.values.cols * Index(sizeof(Real));
  });
  for (int rank = 0; rank < kRanks; ++rank) {
    const auto &planned = masked.ranks[std::size_t(rank)], &first = whole.ranks[std::size_t(rank)];
    for (const Traffic p : {Traffic::kFeatures, Traffic::kIds, Traffic::kStructure, Traffic::kGradient})
      EXPECT_EQ(seen[std::size_t(rank)][std::size_t(p)],
                first.epoch[std::size_t(p)] + (kEpochs - 1) * planned.epoch[std::size_t(p)])
          << traffic_name(p) << ", rank " << rank;
    EXPECT_LT(planned.epoch[std::size_t(Traffic::kFeatures)], first.epoch[std::size_t(Traffic::kFeatures)]);
    EXPECT_EQ(planned.memory.state, state[std::size_t(rank)]);
    EXPECT_EQ(planned.evaluation[std::size_t(Traffic::kEvaluation)], evaluated[std::size_t(rank)]);
    const Index explained = planned.memory.passes - first.memory.passes;
    EXPECT_GT(explained, 3 * 20 * Index(sizeof(Real)) * 10) << "features of others, and masked ones";
    EXPECT_LT(explained, held[std::size_t(rank)]);
  }
}

/// On one rank there is nothing to explain.
TEST(PlannedMasks, AreNoneOnOneRank) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = 20});
  const Dataset dataset = Dataset::open(folder / "small");
  Job job = dgs_job("dgs", ""), plain = dgs_job("minibatch", "");
  job.placement.ranks = plain.placement.ranks = 1;
  EXPECT_EQ(plan_of(job, dataset).ranks[0].memory.peak(), plan_of(plain, dataset).ranks[0].memory.peak());
}

}  // namespace
}  // namespace atl
