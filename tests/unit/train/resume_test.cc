// A run that was killed and resumed ends as one that never was: losses, best epoch, its metrics and its weights, also
// where only some epochs are evaluated.
#include <gmock/gmock.h>

#include "train/session.h"
#include "train/small_job.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

/// Keeps the record; dies at the end of an epoch, as SIGKILL would have it, or asks for a stop there.
class Watcher final : public RunObserver {
 public:
  explicit Watcher(Index kill_after = 0, Index stop_after = 0) : kill_(kill_after), stop_at_(stop_after) {}
  void on_epoch(const EpochRecord& e) override {
    if (e.epoch == kill_) throw Killed();
    if (e.epoch + 1 == stop_at_) stop = true;
  }
  void on_result(const RunRecord& run) override { record = run; }
  RunRecord record;
  std::atomic<bool> stop = false;

 private:
  Index kill_, stop_at_;
};

class Resume : public testing::Test {
 protected:
  Resume() {
    write_small_data(folder_ / "small", {});
    job_ = small_job({"training.epochs=17", "training.evaluateEvery=3", "training.checkpoint={every: 2}",
                      "training.optimizer={kind: adam, learningRate: 0.05}"});
  }

  /// Rank 0's record.
  RunRecord run(const std::string& output, int ranks, Index kill_after = 0, Index stop_after = 0) {
    fs::create_directories(folder_ / output);
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job_, ranks), graph_transforms(job_),
                        training_marks(dataset, job_));
    RunRecord record;
    try {
      run_ranks(ranks, [&](Communicator& comm) {
        Watcher watcher(kill_after, stop_after);
        SessionOptions o;
        o.job = job_;
        o.job_yaml = "small";
        o.dataset = folder_ / "small";
        o.output = folder_ / output;
        o.observer = &watcher;
        o.stop = &watcher.stop;
        run_session(comm, o);
        if (comm.rank() == 0) record = watcher.record;
      });
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), HasSubstr("killed"));
    }
    return record;
  }

  void expect_same(const std::string& name, const RunRecord& never, const RunRecord& resumed) {
    EXPECT_EQ(resumed.best_epoch, never.best_epoch) << name;
    EXPECT_EQ(resumed.validation, never.validation) << name;
    EXPECT_EQ(resumed.test, never.test) << name;
    for (const char* file : {"model.safetensors", "predictions.npy", "embeddings.npy"})
      EXPECT_EQ(read_bytes(folder_ / name / file), read_bytes(folder_ / "never" / file))
          << name << " " << file;
  }

  TemporaryFolder folder_;
  Job job_;
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
