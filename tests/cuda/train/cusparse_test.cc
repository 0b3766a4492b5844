// Training whose sums over neighbours are cuSPARSE's, requested by name, wherever a full batch's parts stay:
// it gives the CPU's result, and the same bits when repeated, also with CUDA graphs.
#include "emulated.h"
#include "gpu_training.h"
#include "train/rank_device.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 4;

class TrainsByCusparse : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  void SetUp() override {
    OnEmulatedGpus::SetUp();
    if (sizeof(Real) != sizeof(float)) GTEST_SKIP() << "cuSPARSE is asked for float32 alone";
    write_small_data(folder_ / "small", GetParam().data);
  }
  SmallResult train(const Job& job, cuda::ReplayCounts* counts = nullptr) {
    emulated::set_seed(23);
    return train_on_gpu(job, folder_ / "small", Gpus::kShared, kEpochs, counts, true);
  }
};

TEST_P(TrainsByCusparse, LearnsWhatTheCpuLearnsAndTheSameBitsAgain) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    std::vector<std::string> fields = GetParam().fields;
    fields.push_back("placement.ranks=" + std::to_string(ranks));
    const Job job = small_job(fields);
    const SmallResult cpu = train_small(job, folder_ / "small", ranks, kEpochs);
    const std::int64_t before = emulated::cusparse_products();
    const SmallResult first = train(job);
    EXPECT_GT(emulated::cusparse_products(), before);
    ASSERT_EQ(first.losses.size(), cpu.losses.size());
    for (std::size_t e = 0; e < cpu.losses.size(); ++e)
      EXPECT_NEAR(first.losses[e], cpu.losses[e], 1e-4 * std::abs(cpu.losses[e])) << "epoch " << e + 1;
    cuda::ReplayCounts counts;
    expect_same_bits(train(job, &counts), first);
    EXPECT_GT(counts.launches, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, TrainsByCusparse,
                         testing::Values(SmallCase{"gcn", {"training.dropout=0.3"}},
                                         SmallCase{"sage_of_weighted_arcs",
                                                   {"model.kind=sage", "model.norm=layer"},
                                                   {.weighted = true}},
                                         SmallCase{"gcn_inductive", {"training.setting=inductive"}}),
                         [](const auto& one) { return one.param.name; });

using BatchesBesideCusparse = TrainsByCusparse;
TEST_P(BatchesBesideCusparse, AreOurKernels) {
  const std::int64_t before = emulated::cusparse_products();
  train(small_job(GetParam().fields));
  EXPECT_EQ(emulated::cusparse_products(), before);
}
INSTANTIATE_TEST_SUITE_P(Strategies, BatchesBesideCusparse,
                         testing::Values(SmallCase{"minibatch",
                                                   {"model.kind=sage", "strategy.kind=minibatch",
                                                    "strategy.minibatch.batchSize=7"}}),
                         [](const auto& one) { return one.param.name; });

using WithoutCusparse = OnEmulatedGpus;
TEST_F(WithoutCusparse, ARunThatAsksForItEndsOnWhateverGpuItFinds) {
  emulated::offer_cusparse(false);
  for (const DeviceChoice choice : {DeviceChoice::kAuto, DeviceChoice::kCuda})
    EXPECT_THROW(open_device(choice, 0, {.cusparse = true}), Error);
  EXPECT_EQ(open_device(DeviceChoice::kAuto, 0).device, Device::kCuda);
  EXPECT_EQ(open_device(DeviceChoice::kCpu, 0, {.cusparse = true}).device, Device::kCpu);
  emulated::offer_cusparse(true);
}

}  // namespace
}  // namespace atl::test
