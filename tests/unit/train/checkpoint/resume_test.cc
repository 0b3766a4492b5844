// A run that was killed and resumed ends as one never killed: losses, best epoch, its metrics and weights,
// also where only some epochs are evaluated.
#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

class Resume : public KilledRuns {
 protected:
  void expect_same(const std::string& name, const RunRecord& never, const RunRecord& resumed) {
    EXPECT_EQ(resumed.best_epoch, never.best_epoch) << name;
    EXPECT_EQ(resumed.validation, never.validation) << name;
    EXPECT_EQ(resumed.test, never.test) << name;
    for (const char* file : {"model.safetensors", "predictions.npy", "embeddings.npy"})
      EXPECT_EQ(read_bytes(folder_ / name / file), read_bytes(folder_ / "never" / file))
          << name << " " << file;
  }
};

TEST_F(Resume, BestEpochAndItsWeightsSurviveAKillAtAnyEpoch) {
  const RunRecord never = run("never", 2);
  ASSERT_GT(never.best_epoch, 0);
  ASSERT_LT(never.best_epoch, 15) << "the best epoch should lie before some kills and after others";
  for (Index kill = 1; kill < 17; ++kill) {
    const std::string name = fmt::format("killed-{}", kill);
    run(name, 2, kill);
    const RunRecord resumed = run(name, 2);
    EXPECT_EQ(resumed.resumed_from, (kill - 1) / 2 * 2) << "the last checkpoint before the kill";
    expect_same(name, never, resumed);
  }
}

TEST_F(Resume, AStopBetweenEvaluationsChangesNothing) {
  const RunRecord never = run("never", 2);
  for (const Index stop : {2, 7, 10, 16}) {
    const std::string name = fmt::format("stopped-{}", stop);
    EXPECT_EQ(run(name, 2, 0, stop).outcome, "interrupted");
    const RunRecord resumed = run(name, 2);
    EXPECT_EQ(resumed.resumed_from, stop);
    expect_same(name, never, resumed);
  }
}

TEST_F(Resume, PatienceGoesOnWhereItWas) {
  job_.training.early_stopping.patience = 4;
  job_.training.epochs = 60;
  const RunRecord never = run("never", 2);
  ASSERT_EQ(never.outcome, "stopped early");
  for (const Index kill : {Index(3), Index(8), Index(never.epochs.size()) - 1}) {
    const std::string name = fmt::format("killed-{}", kill);
    run(name, 2, kill);
    const RunRecord resumed = run(name, 2);
    EXPECT_EQ(resumed.outcome, "stopped early");
    EXPECT_EQ(resumed.resumed_from + Index(resumed.epochs.size()), Index(never.epochs.size()));
    expect_same(name, never, resumed);
  }
}

}  // namespace
}  // namespace atl
