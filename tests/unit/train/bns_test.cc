// Strategy bns in a run: every model learns, threads change no bit, and a resumed run repeats.
#include <gmock/gmock.h>

#include <numeric>

#include "train/checkpoint/killed_run.h"
#include "train/every_model.h"

namespace atl {
namespace {

const std::vector<std::string> kSampled[] = {
    {"strategy.kind=bns", "strategy.bns={rate: 0.3}"},
    {"strategy.kind=pipegcn", "strategy.pipegcn={boundaryRate: 0.5}"},
    {"strategy.kind=pipegcn", "strategy.pipegcn={boundaryRate: 0.5}", "strategy.wire=bfloat16"}};

Job sampled_job(const std::vector<std::string>& strategy, std::vector<std::string> fields) {
  fields.insert(fields.end(), strategy.begin(), strategy.end());
  return small_job(fields);
}

/// Of as few vertices as these, gat's own 0.6 hides what a few epochs teach.
constexpr const char* kLittleNoise = "training.attentionDropout=0.1";

TEST(Bns, EveryModelLearns) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const auto& strategy : kSampled) {
    for (const std::string& model : every_kind()) {
      const Job job = sampled_job(strategy, {"model.kind=" + model, kLittleNoise,
                                             "training.optimizer={kind: adam, learningRate: 0.02}"});
      const std::vector<double> losses = train_small(job, folder / "small", 4, 50).losses;
      const double first = std::accumulate(losses.begin(), losses.begin() + 10, 0.0);
      EXPECT_LT(std::accumulate(losses.end() - 10, losses.end(), 0.0), first) << model << ", " << strategy[0];
    }
  }
}

TEST(Bns, ThreadsChangeNothing) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const auto& strategy : kSampled) {
    for (const std::string model : {"gcn", "gat"}) {
      const Job job = sampled_job(strategy, {"model.kind=" + model});
      const SmallResult one = train_small(job, folder / "small", 3, 8, 1);
      const SmallResult four = train_small(job, folder / "small", 3, 8, 4);
      EXPECT_EQ(one.losses, four.losses) << model << ", " << strategy[0];
      EXPECT_EQ(one.weights, four.weights) << model << ", " << strategy[0];
    }
  }
}

TEST(Bns, EpochsDrawOtherRows) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job({"training.dropout=0", "strategy.kind=bns", "strategy.bns={rate: 0.3}",
                             "training.optimizer={kind: sgd, learningRate: 1e-30}"});
  const SmallResult still = train_small(job, folder / "small", 3, 4);
  for (std::size_t e = 1; e < 4; ++e)
    EXPECT_NE(still.losses[e], still.losses[e - 1]) << "weights stand still, the sample doesn't";
}

class BnsResume : public KilledRuns, public testing::WithParamInterface<int> {};

/// Draws are keyed by the epoch, and what is late under pipegcn is in the checkpoint.
TEST_P(BnsResume, OnTheSameRanksItIsTheRunThatWasNeverKilled) {
  job_ = sampled_job(kSampled[GetParam()],
                     {"training.epochs=17", "training.evaluateEvery=3", "training.checkpoint={every: 2}",
                      "training.optimizer={kind: adam, learningRate: 0.05}"});
  run("never", 3);
  for (const Index kill : {3, 12}) {
    const std::string name = fmt::format("killed-{}", kill);
    run(name, 3, kill);
    EXPECT_EQ(run(name, 3).resumed_from, (kill - 1) / 2 * 2);
    for (const char* file : {"model.safetensors", "predictions.npy"})
      EXPECT_EQ(read_bytes(folder_ / name / file), read_bytes(folder_ / "never" / file))
          << name << " " << file;
  }
}

const char* const kNames[] = {"bns", "pipegcn_sampled", "pipegcn_sampled_bfloat16"};

INSTANTIATE_TEST_SUITE_P(Strategies, BnsResume, testing::Values(0, 1, 2),
                         [](const auto& each) { return kNames[each.param]; });

}  // namespace
}  // namespace atl
