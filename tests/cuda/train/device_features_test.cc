// Mini-batches' features in the GPU's memory, in host memory that the GPU reads, or sent by the host: a run
// gives the same bits in all three cases.
#include <gmock/gmock.h>

#include "gpu_training.h"
#include "strategies/schedule/batch_counts.h"

namespace atl::test {
namespace {

constexpr int kEpochs = 2;
constexpr double kGpuBytes = double(std::uint64_t(64) << 30);  // of the emulated one
/// Room for a third of one rank's rows.
constexpr double kSome = 20.5 * 6 * sizeof(Real) / kGpuBytes;

struct BatchCase {
  std::string name;
  int ranks;
  std::string strategy;  // its manifest's block, without gpuFeatures
};
std::ostream& operator<<(std::ostream& out, const BatchCase& c) {
  return out << c.name;
}

class DeviceFeatures : public OnEmulatedGpus, public testing::WithParamInterface<BatchCase> {
 protected:
  DeviceFeatures() { write_small_data(folder_ / "small", {}); }
  void TearDown() override {
    emulated::refuse_to_register(false);
    OnEmulatedGpus::TearDown();
  }

  struct Run {
    SmallResult result;
    BatchCounts counts;  // of rank 0
    Index pinned = 0;    // pieces of memory that were, meanwhile
  };
  Run train(double share) const {
    const auto& [name, ranks, strategy] = GetParam();
    const std::string kind = strategy.substr(0, strategy.find('='));
    const Job job = small_job({"strategy.kind=" + kind, "strategy." + strategy, "training.dropout=0.3",
                               fmt::format("strategy.{}.gpuFeatures={}", kind, share),
                               fmt::format("placement.ranks={}", ranks)});
    const std::int64_t before = emulated::registered().ever;
    Run run;
    run_gpu_ranks(ranks, Gpus::kShared, [&](Communicator& comm) {
      const OpenDevice device = backend().open(comm.rank());
      SmallRank rank(comm, job, folder_ / "small", 1, {}, Device::kCuda, *device.stream);
      SmallResult result = train_rank(comm, rank, kEpochs);
      if (comm.rank() == 0) run = {std::move(result), rank.trainer->figures<BatchCounts>().value()};
    });
    run.pinned = emulated::registered().ever - before;
    EXPECT_EQ(emulated::registered().now, 0) << "memory stays pinned";
    return run;
  }
};

TEST_P(DeviceFeatures, ComeToTheSameWhereverTheyLie) {
  const Run all = train(1), some = train(kSome), none = train(0);
  emulated::refuse_to_register(true);
  const Run given = train(kSome), all_given = train(0);
  for (const Run* other : {&some, &none, &given, &all_given}) {
    EXPECT_EQ(other->result.losses, all.result.losses);
    EXPECT_EQ(other->result.weights, all.result.weights);
    EXPECT_EQ(other->counts.own_rows, all.counts.own_rows);
    EXPECT_EQ(other->counts.fetched_rows, all.counts.fetched_rows);
    EXPECT_EQ(other->counts.cached_rows, all.counts.cached_rows);
  }
  EXPECT_EQ(all.counts.gpu_rows, all.counts.own_rows);
  for (const Run* part : {&some, &given}) {
    EXPECT_GT(part->counts.gpu_rows, 0);
    EXPECT_LT(part->counts.gpu_rows, part->counts.own_rows);
  }
  for (const Run* without : {&none, &all_given}) EXPECT_EQ(without->counts.gpu_rows, 0);
  EXPECT_EQ(all.pinned, 0);
  EXPECT_EQ(some.pinned, GetParam().ranks);
  EXPECT_EQ(none.pinned, GetParam().ranks);
  EXPECT_EQ(given.pinned, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, DeviceFeatures,
    testing::Values(BatchCase{"one_rank", 1, "minibatch={batchSize: 7, fanout: [3, 3, 3]}"},
                    BatchCase{"two_ranks", 2, "minibatch={batchSize: 7, fanout: [3, 3, 3]}"},
                    BatchCase{"cached", 2,
                              "minibatch={batchSize: 7, fanout: [3, 3, 3], cache: {bytes: 400}}"},
                    BatchCase{"subgraphs", 2, "minibatch={sampler: saintVertex, draws: 25}"},
                    BatchCase{"some_columns", 2,
                              "dgs={batchSize: 7, fanout: [3, 3, 3], explainEvery: 2, explainEpochs: 3}"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl::test
