#include "bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/rank_shape.h"
#include "train/small_job.h"

namespace atl {
namespace {

class Bench : public testing::Test {
 protected:
  Bench() {
    write_small_data(folder_ / "small", {.vertices = 300});
    dataset_.emplace(Dataset::open(folder_ / "small"));
    prepared_.emplace(PreparedGraph::make(*dataset_, partition_options(job_, 1), graph_transforms(job_),
                                          training_marks(*dataset_, job_)));
  }

  TemporaryFolder folder_;
  Job job_ = small_job({"training.dropout=0"});
  std::optional<Dataset> dataset_;
  std::optional<PreparedGraph> prepared_;
  ThreadPool pool_{2};
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
  MachineRates rates_{2e9, 1e9, 1e9};
};

TEST_F(Bench, OpsStandBesideTheirBounds) {
  const auto rows = bench_ops(ctx_, *prepared_, rates_, {8}, 2);
  ASSERT_EQ(rows.size(), 5U);
  const double arcs = double(prepared_->graph().arcs());
  EXPECT_EQ(rows[0].name, "spmm, 8 columns, natural order");
  EXPECT_EQ(rows[0].limit, 0);
  EXPECT_DOUBLE_EQ(rows[1].limit, (4 * arcs + 4 * 8 * arcs + 4 * 8 * 300) / 2e9);
  EXPECT_DOUBLE_EQ(rows[2].limit, 1.2 * (2 * 300 * 8 * 8 / 1e9 + 8 * 300 * 8 / 2e9));
  EXPECT_DOUBLE_EQ(rows[3].limit, rows[2].limit);
  EXPECT_DOUBLE_EQ(rows[4].limit, arcs * (4 + 4 * 8 + 4 * 2) / 0.6e9);
  for (const BenchRow& row : rows) EXPECT_GT(row.seconds, 0) << row.name;
}

TEST_F(Bench, AnEpochStandsBesideItsWork) {
  const BenchRow row = bench_epoch(ctx_, job_, *dataset_, *prepared_, rates_, 3);
  const Model model = make_model(job_.model, job_.training, {6, 3, false, DropsOut::kMakers});
  const EpochWork work = epoch_work(model, rank_shape(*prepared_, 0, {}), false);
  EXPECT_DOUBLE_EQ(row.limit, 1.3 * seconds_of(work, rates_));
  EXPECT_GT(row.seconds, 0);
}

TEST_F(Bench, AJobThatDoesNotLearnIsRefused) {
  job_.training.optimizer.learning_rate = 0;
  EXPECT_THAT([&] { bench_epoch(ctx_, job_, *dataset_, *prepared_, rates_, 3); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("the loss went from")));
}

TEST_F(Bench, BatchesAreCountedInArcs) {
  const Job job = small_job(
      {"strategy.kind=minibatch", "strategy.minibatch.fanout=[2, 3, 4]", "strategy.minibatch.batchSize=16"});
  const PreparedGraph prepared = PreparedGraph::make(*dataset_, partition_options(job, 1),
                                                     graph_transforms(job), training_marks(*dataset_, job));
  const BenchRow row = bench_batches(job, *dataset_, prepared, 2, 2);
  EXPECT_GT(row.seconds, 0);
  EXPECT_GT(row.arcs, 100);
  EXPECT_THAT(to_json(row), testing::HasSubstr(R"("arcsPerSecond":)"));
  EXPECT_THAT(to_text({row}), testing::HasSubstr(" a second"));
  EXPECT_THAT(
      [&] { bench_batches(job_, *dataset_, *prepared_, 2, 2); },
      testing::ThrowsMessage<Error>(testing::HasSubstr("draws no batches (use minibatch, p3 or dgs)")));
}

TEST(BenchReport, GivesFigureLimitAndRatio) {
  const BenchRow row{"spmm", 0.003, 0.002, "bytes / rate"};
  EXPECT_EQ(
      to_json(row),
      R"({"event":"bench","name":"spmm","seconds":0.003,"limitSeconds":0.002,"ratio":1.5,"formula":"bytes / rate"})");
  EXPECT_THAT(to_text({row}),
              testing::AllOf(testing::HasSubstr("3.00 ms"), testing::HasSubstr("ratio 1.50")));
  EXPECT_EQ(to_text(MachineRates{2e9, 1e9, 3e9}, {2}),
            "2 threads: triad 2.0 GB/s, gather of 256-byte rows 1.0 GB/s, products 3.0 Gflop/s\n");
}

}  // namespace
}  // namespace atl
