// Training whose sums over neighbours are cuSPARSE's wherever a full batch's parts stay: what the CPU comes to, the same bits again, and
// the choices beside the prepared graph.
#include "tensor/sum_choices.h"
#include "emulated.h"
#include "gpu_training.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 4;

class SumsByTheLibrary : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  void SetUp() override {
    OnEmulatedGpus::SetUp();
    write_small_data(folder_ / "small", GetParam().data);
    emulated::set_free_bytes(std::size_t(1) << 30);
    emulated::let_products_take(-2);  // always the faster way, with a pass behind it, too
  }
  void TearDown() override {
    OnEmulatedGpus::TearDown();
    emulated::set_free_bytes(0);
    emulated::let_products_take(1);
  }
  SmallResult train(const Job& job, cuda::ReplayCounts* counts = nullptr) {
    emulated::set_seed(23);
    return train_on_gpu(job, folder_ / "small", Gpus::kShared, kEpochs, counts);
  }
  static void expect_close(const SmallResult& gpu, const SmallResult& cpu) {
    ASSERT_EQ(gpu.losses.size(), cpu.losses.size());
    for (std::size_t e = 0; e < cpu.losses.size(); ++e)
      EXPECT_NEAR(gpu.losses[e], cpu.losses[e], 1e-4 * std::abs(cpu.losses[e])) << "epoch " << e + 1;
  }
  static void expect_same(const SmallResult& a, const SmallResult& b) {
    EXPECT_EQ(a.losses, b.losses);
    EXPECT_EQ(a.weights, b.weights);
  }
  /// Files of choices beside the prepared graphs.
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    for (const auto& each : std::filesystem::recursive_directory_iterator(folder_ / "small"))
      if (each.path().filename().string().starts_with("sums-")) found.push_back(each.path());
    return found;
  }
};

TEST_P(SumsByTheLibrary, LearnWhatTheCpuLearnsAndTheSameBitsAgain) {
  for (const int ranks : {1, 2}) {
    SCOPED_TRACE(testing::Message() << ranks << " ranks");
    std::vector<std::string> fields = GetParam().fields;
    fields.push_back("placement.ranks=" + std::to_string(ranks));
    const Job job = small_job(fields);
    const SmallResult cpu = train_small(job, folder_ / "small", ranks, kEpochs);
    const std::int64_t before = emulated::cusparse_products();
    const SmallResult first = train(job);
    expect_close(first, cpu);
    const std::int64_t measured = emulated::cusparse_products() - before;
    EXPECT_GT(measured, 0);
    emulated::let_products_take(5);  // measured now, each sum would be our own kernels'
    expect_same(train(job), first);
    const std::int64_t again = emulated::cusparse_products() - before - measured;
    EXPECT_GT(again, 0);
    EXPECT_LT(again, measured);
    cuda::ReplayCounts counts;
    expect_same(train(job, &counts), first);
    EXPECT_GT(counts.launches, 0);
    emulated::let_products_take(-2);
  }
  EXPECT_EQ(files().size(), 3U) << "one per rank, of each prepared graph";
  for (const auto& each : files()) EXPECT_EQ(each.filename().string().find("sums-emulated-gpu-"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Models, SumsByTheLibrary,
                         testing::Values(SmallCase{"gcn", {"training.dropout=0.3"}},
                                         SmallCase{"sage_of_weighted_arcs",
                                                   {"model.kind=sage", "model.norm=layer"},
                                                   {.weighted = true}},
                                         SmallCase{"gcn_inductive", {"training.setting=inductive"}}),
                         [](const auto& one) { return one.param.name; });

using SumsOfBatches = SumsByTheLibrary;
TEST_P(SumsOfBatches, AreOurKernels) {
  const std::int64_t before = emulated::cusparse_products();
  train(small_job(GetParam().fields));
  EXPECT_EQ(emulated::cusparse_products(), before);
  EXPECT_TRUE(files().empty());
}
INSTANTIATE_TEST_SUITE_P(Strategies, SumsOfBatches,
                         testing::Values(SmallCase{"minibatch",
                                                   {"model.kind=sage", "strategy.kind=minibatch",
                                                    "strategy.minibatch.batchSize=7"}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl::test
