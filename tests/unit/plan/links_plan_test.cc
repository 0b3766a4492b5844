// The plan of link prediction equals a run's first epoch: the ends that ranks ask each other for, their rows
// and gradients.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/job_plan.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

const PlanOptions kOptions{1, {1e9, 1e9, 1e9}, 1e9};

/// And in an evaluation behind it.
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
    rank.trainer->evaluate();
    by_rank[std::size_t(comm.rank())][std::size_t(Traffic::kEvaluation)] =
        comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation);
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
        EXPECT_EQ(rank.epoch[p] + rank.evaluation[p], sent[std::size_t(rank.shape.rank)][p])
            << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank;
  }
}

Index bytes_of(const RankPlan& rank, const std::string& item) {
  const auto at = std::ranges::find(rank.memory.items, item, &MemoryItem::name);
  return at == rank.memory.items.end() ? 0 : at->bytes;
}

/// The pairs of a step, the rows of their ends that others have, and what the decoder computes of them.
TEST(PlannedLinks, CountsPairsRowsOfEndsAndScores) {
  TemporaryFolder folder;
  const SmallCase c = every_link_model()[1];
  write_small_data(folder / "small", c.data);
  const Dataset dataset = Dataset::open(folder / "small");
  for (const std::string& strategy :
       {std::string("{kind: graph}"), std::string("{kind: minibatch, minibatch: {fanout: [2, 2, 2]}}")}) {
    SCOPED_TRACE(strategy);
    const auto planned = [&](const std::string& spec, int ranks) {
      const Job job = link_job(c, ranks, {"strategy=" + strategy, "linkPrediction=" + spec});
      const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, ranks),
                                                         graph_transforms(job), training_marks(dataset, job));
      return plan_job(job, dataset, prepared, kOptions);
    };
    const JobPlan dot = planned("{decoder: dot}", 2), mlp = planned("{decoder: mlp}", 2),
                  more = planned("{decoder: dot, negatives: 50}", 2), one = planned("{decoder: dot}", 1);
    const Index supervised = dataset.meta().pairs.supervised;
    for (std::size_t r = 0; r < 2; ++r) {
      EXPECT_GT(bytes_of(mlp.ranks[r], "scores of pairs"), bytes_of(dot.ranks[r], "scores of pairs"));
      EXPECT_GT(bytes_of(dot.ranks[r], "rows of pairs' ends"), 0);
      EXPECT_GT(mlp.ranks[r].work.product_flops, dot.ranks[r].work.product_flops);
      EXPECT_GT(mlp.ranks[r].evaluation_seconds, dot.ranks[r].evaluation_seconds);
    }
    EXPECT_EQ(bytes_of(one.ranks[0], "rows of pairs' ends"), 0) << "a rank alone has all";
    const Index pairs_more = bytes_of(more.ranks[0], "pairs") + bytes_of(more.ranks[1], "pairs") -
                             bytes_of(dot.ranks[0], "pairs") - bytes_of(dot.ranks[1], "pairs");
    EXPECT_GE(pairs_more, 2 * 4 * 49 * supervised) << "49 more for each edge";
    EXPECT_GT(more.epoch_seconds, dot.epoch_seconds);
    EXPECT_GT(more.ranks[0].memory.peak(), dot.ranks[0].memory.peak());
  }
}

/// What is met again and again takes no more than what differs.
TEST(PlannedLinks, CollectsEndsWithoutHoldingAll) {
  StepPairs pairs;
  for (Index i = 0; i < 3 * kUnsortedEnds; ++i) pairs.add(VertexId(i % 7), VertexId(i % 5));
  std::vector<VertexId> ends;
  collect_ends(
      pairs, [](VertexId row) { return row != 3; }, ends);
  EXPECT_EQ(ends, (std::vector<VertexId>{0, 1, 2, 4, 5, 6}));
  EXPECT_LE(ends.capacity(), std::size_t(kUnsortedEnds));
}

}  // namespace
}  // namespace atl
