// Mini-batches take their memory in the first epochs: what a step needs afterwards is there.
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

constexpr Index kWarmUp = 5;  // epochs of 17 steps

struct Batches {
  const char *name, *kind;
  std::string options;
};

class BatchMemory : public testing::TestWithParam<Batches> {};

/// Batches of 160 of 2,667 training vertices.
TEST_P(BatchMemory, HardlyEverGrowsAfterTheFirstEpochs) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 8000, .arc_share = 0.0008});
  const std::string kind = GetParam().kind;
  const Job job = small_job({"model.kind=sage", "model.norm=batch",
                             "strategy={kind: " + kind + ", " + kind + ": {" + GetParam().options + "}}",
                             "placement.ranks=2", "training.epochs=100"});
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    for (Index epoch = 1; epoch <= kWarmUp; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    const std::int64_t steps = rank.trainer->steps();
    const Index before = rank.trainer->batch_counts()->growths;
    EXPECT_GT(before, 0) << "the first epochs make room";
    for (Index epoch = kWarmUp + 1; (epoch - 1 - kWarmUp) * steps < 1000; ++epoch)
      rank.trainer->train_epoch(epoch, 0.01);
    EXPECT_LE(rank.trainer->batch_counts()->growths - before, 1) << "steps of 1,000 with a larger batch";
  });
}

const std::string kNeighbours = "fanout: [4, 3, 3], batchSize: 160";
INSTANTIATE_TEST_SUITE_P(
    Strategies, BatchMemory,
    testing::Values(
        Batches{"minibatch", "minibatch", kNeighbours}, Batches{"p3", "p3", kNeighbours},
        Batches{"dgs", "dgs", kNeighbours + ", explainEpochs: 3"},
        Batches{"p3_pipeline", "p3", kNeighbours + ", delay: 3"},
        Batches{"fastgcn", "minibatch", "sampler: fastgcn, batchSize: 160, layerSizes: [500, 500, 500]"},
        Batches{"ladies", "minibatch", "sampler: ladies, batchSize: 160, layerSizes: [500, 500, 500]"},
        Batches{"saint_edge", "minibatch", "sampler: saintEdge, draws: 300"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
