// A run that was killed on GPUs and resumed there gives the same losses and files as one never stopped, to
// the bit.
#include "gpu_training.h"
#include "train/checkpoint/killed_run.h"

namespace atl::test {
namespace {

struct Resumed {
  std::string name;
  std::vector<std::string> fields;
  Reached kill;
};

class ResumeOnGpus : public KilledRuns, public testing::WithParamInterface<std::tuple<Resumed, Gpus>> {
 protected:
  void SetUp() override {
    install_backend(&cuda::backend());
    emulated::set_seed(11);
    std::vector<std::string> fields{"training.epochs=7", "training.dropout=0.3",
                                    "training.checkpoint={every: 2, everySteps: 2}"};
    const std::vector<std::string>& own = std::get<Resumed>(GetParam()).fields;
    fields.insert(fields.end(), own.begin(), own.end());
    job_ = small_job(fields);
  }
  void TearDown() override {
    install_backend(nullptr);
    emulated::set_gpus(1);
  }
  void run_all(int ranks, const std::function<void(Communicator&)>& rank_main) override {
    run_gpu_ranks(ranks, std::get<Gpus>(GetParam()), rank_main);
  }
  RankDevice device_of(Rank rank) override { return {Device::kCuda, backend().open(rank), ""}; }
};

TEST_P(ResumeOnGpus, IsTheRunThatWasNeverStopped) {
  const RunRecord never = run("never", 2);
  ASSERT_EQ(never.epochs.size(), 7u);
  const Reached kill = std::get<Resumed>(GetParam()).kill;
  EXPECT_EQ(run_until("killed", 2, kill, {}).outcome, "");
  const RunRecord resumed = run("killed", 2);
  EXPECT_GT(resumed.resumed_from + resumed.resumed_steps, 0) << "from a checkpoint";
  ASSERT_EQ(resumed.epochs.back().epoch, 7);
  for (const EpochRecord& each : resumed.epochs)
    EXPECT_EQ(each.loss, never.epochs[std::size_t(each.epoch - 1)].loss) << "epoch " << each.epoch;
  for (const char* file : {"model.safetensors", "predictions.npy"})
    EXPECT_EQ(read_bytes(folder_ / "killed" / file), read_bytes(folder_ / "never" / file)) << file;
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, ResumeOnGpus,
    testing::Combine(testing::Values(Resumed{"gcn", {"model.norm=layer"}, {5, 0}},
                                     Resumed{"minibatch",
                                             {"model={kind: sage, norm: batch}", "strategy.kind=minibatch",
                                              "strategy.minibatch={batchSize: 3, fanout: [3, 2]}",
                                              "placement.partitioner={kind: range, parts: 2}"},
                                             {3, 3}}),
                     testing::Values(Gpus::kShared, Gpus::kOwn)),
    [](const auto& one) {
      return std::get<Resumed>(one.param).name +
             (std::get<Gpus>(one.param) == Gpus::kOwn ? "_over_nccl" : "_on_one_gpu");
    });

}  // namespace
}  // namespace atl::test
