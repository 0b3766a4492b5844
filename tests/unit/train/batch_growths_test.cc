// Mini-batches take their memory in the first epochs; later steps need no more.
#include <gtest/gtest.h>

#include "strategies/schedule/batch_counts.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr Index kWarmUp = 85;  // steps: five epochs of 17, where batches are of 160

struct Batches {
  const char *name, *kind;
  std::string options;
  Index most = 1;  // reallocations in 1,000 steps: subgraphs and pushes differ more in size than batches do
};

class BatchMemory : public testing::TestWithParam<Batches> {};

/// Batches of 160 of 2,667 training vertices.
TEST_P(BatchMemory, HardlyEverGrowsAfterTheFirstEpochs) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 8000, .arc_share = 0.0008});
  const std::string kind = GetParam().kind;
  const Job job = small_job({"model.kind=sage", "model.norm=batch",
                             "strategy={kind: " + kind + ", " + kind + ": {" + GetParam().options + "}}",
                             "placement.ranks=2", "training.epochs=1000"});
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const std::int64_t steps = rank.trainer->steps();
    Index epoch = 1;
    for (; (epoch - 1) * steps < kWarmUp; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    const Index before = rank.trainer->figures<BatchCounts>()->reallocations, first = epoch;
    EXPECT_GT(before, 0) << "the first epochs make room";
    for (; (epoch - first) * steps < 1000; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    EXPECT_LE(rank.trainer->figures<BatchCounts>()->reallocations - before, GetParam().most)
        << "steps of 1,000 with a larger batch";
  });
}

const std::string kNeighbours = "fanout: [4, 3, 3], batchSize: 160";
INSTANTIATE_TEST_SUITE_P(
    Strategies, BatchMemory,
    testing::Values(
        Batches{"minibatch", "minibatch", kNeighbours}, Batches{"p3", "p3", kNeighbours},
        Batches{"dgs", "dgs", kNeighbours + ", explainEpochs: 3"},
        Batches{"historical", "minibatch", "sampler: historical, " + kNeighbours, 2},
        Batches{"p3_pipeline", "p3", kNeighbours + ", delay: 3"},
        Batches{"fastgcn", "minibatch", "sampler: fastgcn, batchSize: 160, layerSizes: [500, 500, 500]"},
        Batches{"ladies", "minibatch", "sampler: ladies, batchSize: 160, layerSizes: [500, 500, 500]"},
        Batches{"saint_edge", "minibatch", "sampler: saintEdge, draws: 1000", 5}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
