// `atoll bench ops` on the emulated GPU: its kernels' results are checked, and each stands beside a limit and its maker.
#include "plan/bench/bench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/bench/device_rates.h"
#include "plan/bench/stopwatch.h"
#include "tensor/cuda/backend.h"
#include "tensor/kernels.h"
#include "train/small_job.h"

namespace atl {
namespace {

class GpuBench : public testing::Test {
 protected:
  GpuBench() {
    install_backend(&cuda::backend());
    open_ = backend().open(0);
    ctx_ = {Device::kCuda, &pool_, &workspace_, open_.stream.get()};
  }
  ~GpuBench() override { workspace_ = Workspace(Device::kCuda); }

  OpenDevice open_;
  ThreadPool pool_{1};
  Workspace workspace_{Device::kCuda};
  Context ctx_;
};

TEST_F(GpuBench, OpsStandBesideTheirBoundsAndMakers) {
  const TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 300});
  const Dataset dataset = Dataset::open(folder / "small");
  const Job job = small_job({});
  const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, 1),
                                                     graph_transforms(job), training_marks(dataset, job));
  const auto rows = bench_ops(ctx_, prepared, MachineRates{2e9, 1e9, 1e9}, {8}, 2);
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
