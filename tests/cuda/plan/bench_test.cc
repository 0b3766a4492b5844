// `atoll bench` on the emulated GPU: kernels' results are checked, and printed with their limits and makers;
// epochs run on the GPU and learn what the CPU's do.
#include "bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/device_rates.h"
#include "emulated.h"
#include "plan/rank_shape.h"
#include "tensor/cuda/backend.h"
#include "tensor/kernels.h"
#include "tensor/rates.h"
#include "train/small_job.h"

namespace atl {
namespace {

class GpuBench : public testing::Test {
 protected:
  GpuBench() {
    install_backend(&cuda::backend());
    open_ = backend().open(0);
    ctx_ = {Device::kCuda, &pool_, &workspace_, open_.stream.get()};
    write_small_data(folder_ / "small", {.vertices = 300});
    dataset_.emplace(Dataset::open(folder_ / "small"));
  }
  ~GpuBench() override { workspace_ = Workspace(Device::kCuda); }
  PreparedGraph prepared(const Job& job) const {
    return PreparedGraph::make(*dataset_, partition_options(job, 1), graph_transforms(job),
                               training_marks(*dataset_, job));
  }
  BenchRow epoch(const Job& job) { return bench_epoch(ctx_, job, *dataset_, prepared(job), kRates, 2); }

  static constexpr MachineRates kRates{2e9, 1e9, 1e9};
  TemporaryFolder folder_;
  std::optional<Dataset> dataset_;
  OpenDevice open_;
  ThreadPool pool_{1};
  Workspace workspace_{Device::kCuda};
  Context ctx_;
};

TEST_F(GpuBench, OpsStandBesideTheirBoundsAndMakers) {
  const auto rows = bench_ops(ctx_, prepared(small_job({})), kRates, {8}, 2);
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_THAT(rows[0].name, testing::HasSubstr("natural order"));
  for (const BenchRow& row : rows) {
    const bool product = row.name.starts_with("product") || row.name.starts_with("weight gradient");
    EXPECT_EQ(row.by, product ? "cuBLAS" : "Atoll") << row.name;
    EXPECT_GT(row.seconds, 0) << row.name;
    EXPECT_EQ(row.limit > 0, &row != rows.data()) << row.name;
  }
  EXPECT_THAT(to_json(rows[2]), testing::HasSubstr(R"("by":"cuBLAS")"));
  EXPECT_THAT(to_text(rows), testing::HasSubstr("  by Atoll\n"));
}

TEST_F(GpuBench, SumsStandBesideTheLibrarys) {
  const std::int64_t before = emulated::cusparse_products();
  const auto rows = bench_ops(ctx_, prepared(small_job({})), kRates, {8, 5}, 1);
  EXPECT_GT(emulated::cusparse_products(), before);
  for (const BenchRow& row : rows) {
    if (!row.name.starts_with("spmm")) {
      EXPECT_TRUE(row.ways.empty()) << row.name;
      continue;
    }
    EXPECT_EQ(row.by, "Atoll") << row.name;
    ASSERT_EQ(row.ways.size(), 2U) << row.name;
    EXPECT_EQ(row.ways[0].seconds, row.seconds);
    EXPECT_GT(row.ways[1].seconds, 0);
  }
  EXPECT_THAT(to_text(rows), testing::ContainsRegex("  by Atoll .Atoll: .*, cuSPARSE: .*.\n"));
  EXPECT_THAT(to_json(rows[0]), testing::ContainsRegex("\"ways\":.\"Atoll\":.*,\"cuSPARSE\":"));
}

TEST_F(GpuBench, AnEpochIsTheGpusAndStandsBesideItsWork) {
  const Job job = small_job({"training.dropout=0.2"});
  const BenchRow row = epoch(job);
  const Model model = make_model(job.model, job.training, {6, 3, false, DropsOut::kMakers});
  EXPECT_DOUBLE_EQ(row.limit,
                   1.3 * seconds_of(epoch_work(model, rank_shape(prepared(job), 0, {}), false), kRates));
  EXPECT_GT(row.seconds, 0);
  EXPECT_GT(workspace_.bytes(), 0) << "nothing was computed on the GPU";
}

TEST_F(GpuBench, AnEpochOfMiniBatchesIsTheGpus) {
  const BenchRow row = epoch(small_job(
      {"strategy.kind=minibatch", "strategy.minibatch.fanout=[2, 3, 4]", "strategy.minibatch.batchSize=64"}));
  EXPECT_GT(row.limit, 0);
  EXPECT_GT(workspace_.bytes(), 0) << "nothing was computed on the GPU";
}

TEST_F(GpuBench, AnEpochThatLearnsOtherThanTheCpusIsRefused) {
  Backend hasty = cuda::backend();
  hasty.kernels.begin_step = [](Context& ctx, double learning_rate, std::int64_t step, StepState* state) {
    cuda::kernels().begin_step(ctx, 2 * learning_rate, step, state);
  };
  install_backend(&hasty);
  EXPECT_THAT([&] { epoch(small_job({"training.dropout=0"})); },
              testing::ThrowsMessage<Error>(testing::AllOf(testing::HasSubstr("the loss of epoch 2 is"),
                                                           testing::HasSubstr("on the GPU and"))));
  install_backend(&cuda::backend());
}

TEST_F(GpuBench, RatesAreTheGpus) {
  const MachineRates rates = measure_device_rates(ctx_, {.bytes = 1 << 14, .side = 16});
  for (const double rate : {rates.triad_bytes, rates.gather_bytes, rates.product_flops}) EXPECT_GT(rate, 0);
  EXPECT_THAT(to_text(rates, {1, "a GPU"}), testing::StartsWith("a GPU: triad"));
  EXPECT_THAT(to_json(rates, {1, "a GPU"}),
              testing::StartsWith(R"({"event":"rates","gpu":"a GPU","triadBytes")"));
}

/// The host goes on while a device works: what is timed ends when the work does.
TEST_F(GpuBench, ATimeIsThatOfFinishedWork) {
  Matrix x(64, 64, Device::kCuda);
  fill(ctx_, 0, x);
  DeviceStream::Mark last = 0;
  const double seconds = shortest_seconds(ctx_, [&] {
    for (int i = 0; i < 20; ++i) axpby(ctx_, 1, x, 1, x);
    last = ctx_.stream->mark();
  });
  EXPECT_TRUE(ctx_.stream->reached(last));
  EXPECT_GT(seconds, 0);
}

}  // namespace
}  // namespace atl
