// The parts of a forecast's computing time.
#include "compare/comparison.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "train/small_job.h"

namespace atl {
namespace {

/// A pipeline of so many chunks, where nothing but kernels' calls takes time.
double computing(int chunks, double call_seconds) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200});
  const Job job =
      small_job({fmt::format("strategy={{kind: gnnpipe, gnnpipe: {{stages: 2, chunks: {}}}}}", chunks),
                 "placement.ranks=2", "model.layers=4"});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                            training_marks(dataset, job));
  const MachineRates rates{
      .triad_bytes = 1e30, .gather_bytes = 1e30, .product_flops = 1e30, .call_seconds = call_seconds};
  return forecast(job, dataset, prepared, usual_topology({"a", "b"}, 1e9, rates, 1), rates, 1).row.compute;
}

/// Chunks share an epoch's products, rows and matrices, but each has kernels of its own.
TEST(Forecast, ChunksPayForTheirKernelsCalls) {
  const double few = computing(2, 1e-3), many = computing(20, 1e-3);
  EXPECT_GT(few, 0);
  EXPECT_GT(many, 5 * few);
  EXPECT_LT(many, 10 * few) << "the update is one";
  EXPECT_LT(computing(20, 0), 0.1 * few);
}

/// The forecast's steps of an epoch, and those that a run takes.
std::pair<double, double> steps_of(const std::vector<std::string>& fields) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 120, .arc_share = 0.1, .edges = true});
  std::vector<std::string> all{"placement.ranks=2", "placement.ranksPerServer=2", "training.epochs=1"};
  all.insert(all.end(), fields.begin(), fields.end());
  const Job job = small_job(all);
  std::int64_t trained = 0;
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    rank.trainer->train_epoch(1, 0.01);
    if (comm.rank() == 0) trained = rank.trainer->steps();
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                            training_marks(dataset, job));
  const MachineRates rates{1e9, 1e9, 1e9};
  const double told =
      forecast(job, dataset, prepared, usual_topology({"a", "b"}, 1e9, rates, 1), rates, 1).steps;
  return {told, double(trained)};
}

/// A whole epoch of batches was taken for a step of link prediction, so that none seemed shorter than the
/// graph's, and a trial gave them a few steps.
TEST(Forecast, CountsTheStepsThatARunTakes) {
  const std::string batches = "strategy={kind: minibatch, minibatch: {batchSize: 7, fanout: [2, 2, 2]}}";
  for (const std::vector<std::string>& fields :
       {std::vector{batches}, std::vector{batches, std::string("task=linkPrediction")},
        std::vector{std::string("strategy={kind: granndis, granndis: {batches: 2}}")}}) {
    SCOPED_TRACE(fields.back());
    const auto [told, trained] = steps_of(fields);
    EXPECT_EQ(told, trained);
    EXPECT_GT(told, 1);
  }
  const auto [told, trained] = steps_of({"task=linkPrediction"});
  EXPECT_EQ(told, 1);
  EXPECT_EQ(trained, 1);
}

}  // namespace
}  // namespace atl
