// The plan of p3's pipeline, `delay: 3`: what a checkpoint has beside the parameters is what a run has.
#include <gtest/gtest.h>

#include "plan/columns_job.h"
#include "train/every_model.h"

namespace atl {
namespace {

class PlannedDelay : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  TemporaryFolder folder_;
};

Index held_by(Trainer& trainer) {
  Index bytes = 0;
  for (const NamedMatrix& each : trainer.state())
    bytes += each.values.rows * each.values.cols * Index(sizeof(Real));
  return bytes;
}

/// The weights of three batches under way and, where an optimiser's next move is predicted, the last one.
TEST_P(PlannedDelay, HoldsTheWeightsOfBatchesUnderWay) {
  constexpr int kRanks = 3;
  const Dataset dataset = Dataset::open(folder_ / "small");
  for (const char* optimizer : {"adam", "sgd"})
    for (const char* delay : {"delay: 0", "delay: 3"}) {
      SCOPED_TRACE(fmt::format("{}, {}", optimizer, delay));
      const Job job =
          batches_of("p3", GetParam(), kRanks, delay,
                     {"training.epochs=2",
                      fmt::format("training.optimizer={{kind: {}, learningRate: 0.01}}", optimizer)});
      const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
      std::vector<Index> held(kRanks);
      run_ranks(kRanks, [&](Communicator& comm) {
        SmallRank rank(comm, job, folder_ / "small", 1);
        rank.trainer->train_epoch(1, 0.01);
        held[std::size_t(comm.rank())] = held_by(*rank.trainer);
      });
      for (std::size_t rank = 0; rank < kRanks; ++rank)
        EXPECT_EQ(plan.ranks[rank].memory.state, held[rank]) << "rank " << rank;
    }
}

INSTANTIATE_TEST_SUITE_P(Models, PlannedDelay, testing::ValuesIn(every_model_by_columns()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
