// What is planned of link prediction is what a run's first epoch sends: which ends ranks want of each other, their rows and gradients.
#include <gtest/gtest.h>

#include "plan/job_plan.h"
#include "train/links/link_job.h"

namespace atl {
namespace {

const PlanOptions kOptions{1, {1e9, 1e9, 1e9}, 1e9};

std::vector<TrafficBytes> sent_in_an_epoch(const Job& job, const std::filesystem::path& data) {
  std::vector<TrafficBytes> by_rank(std::size_t(job.placement.ranks));
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    const Ledger after = comm.ledger();
    for (int p = 0; p < kTraffics; ++p)
      by_rank[std::size_t(comm.rank())][std::size_t(p)] =
          after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
  });
  return by_rank;
}

TEST(PlannedLinks, SendWhatARunSends) {
  TemporaryFolder folder;
  const SmallCase c = every_link_model()[0];
  write_small_data(folder / "small", c.data);
  const Dataset dataset = Dataset::open(folder / "small");
  const std::string batches = "{fanout: [2, 2, 2], batchSize: 100000}";
  for (const std::string& strategy :
       {std::string("{kind: graph}"), std::string("{kind: cagnet}"),
        "{kind: minibatch, minibatch: " + batches + "}", "{kind: p3, p3: " + batches + "}"}) {
    SCOPED_TRACE(strategy);
    const Job job = link_job(c, 3, {"strategy=" + strategy, "training.epochs=1"});
    const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, 3),
                                                       graph_transforms(job), training_marks(dataset, job));
    const JobPlan plan = plan_job(job, dataset, prepared, kOptions);
    const std::vector<TrafficBytes> sent = sent_in_an_epoch(job, folder / "small");
    for (const RankPlan& rank : plan.ranks)
      for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
        EXPECT_EQ(rank.epoch[p], sent[std::size_t(rank.shape.rank)][p])
            << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank;
  }
}

}  // namespace
}  // namespace atl
