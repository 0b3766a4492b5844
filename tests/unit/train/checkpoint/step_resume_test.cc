// Mini-batches that were killed or stopped in the middle of an epoch go on there: the run ends as one never
// stopped, to the bit.
#include <gmock/gmock.h>

#include "train/checkpoint/checkpoint.h"
#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

constexpr Index kEpochs = 5, kSteps = 6;  // 18 training vertices, 3 a step

/// Strategies whose epochs have steps, with their options.
struct Steps {
  const char *name, *kind;
  std::string options;
};

class KilledSteps : public KilledRuns {
 protected:
  /// What a run of one rank in this folder says that doesn't go on.
  std::string refusal(const std::string& output) {
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job_, 1), graph_transforms(job_),
                        training_marks(dataset, job_));
    return failures_of_ranks(make_local_group(1), {}, [&](Communicator& comm) {
      Watcher watcher;
      SessionOptions o;
      o.job = job_;
      o.job_yaml = "small";
      o.dataset = folder_ / "small";
      o.output = folder_ / output;
      o.observer = &watcher;
      run_session(comm, o);
    })[0];
  }
};

class StepResume : public KilledSteps, public testing::WithParamInterface<Steps> {
 protected:
  StepResume() {
    const std::string kind = GetParam().kind;
    job_ =
        small_job({fmt::format("training.epochs={}", kEpochs), "training.evaluateEvery=2",
                   "training.checkpoint={every: 2, everySteps: 2}", "training.dropout=0.3",
                   "training.optimizer={kind: adam, learningRate: 0.05}", "model={kind: sage, norm: batch}",
                   "strategy={kind: " + kind + ", " + kind + ": {" + GetParam().options + "}}",
                   "placement.partitioner={kind: range, parts: 2}"});
  }

  /// Every second step and every second epoch have one.
  static Reached last_checkpoint_before(const Reached& kill) {
    const Index steps = (kill.steps - 1) / 2 * 2;
    if (steps > 0 || kill.epochs % 2 == 0) return {kill.epochs, steps};
    return {kill.epochs - 1, kSteps - 2};
  }

  void expect_same(const std::string& name, const RunRecord& never, const RunRecord& resumed) {
    ASSERT_FALSE(resumed.epochs.empty()) << name;
    for (const EpochRecord& e : resumed.epochs)
      EXPECT_EQ(e.loss, never.epochs[std::size_t(e.epoch - 1)].loss) << name << " epoch " << e.epoch;
    EXPECT_EQ(resumed.best_epoch, never.best_epoch);
    EXPECT_EQ(resumed.test, never.test);
    for (const char* file : {"model.safetensors", "predictions.npy"})
      EXPECT_EQ(read_bytes(folder_ / name / file), read_bytes(folder_ / "never" / file))
          << name << " " << file;
  }
};

TEST_P(StepResume, KilledAfterAnyStep) {
  for (const int ranks : {1, 2}) {
    job_.placement.ranks = ranks;
    const RunRecord never = run("never", ranks);
    ASSERT_EQ(Index(never.epochs.size()), kEpochs);
    const Draws draws(std::uint64_t(ranks), Purpose::kGenerator);
    for (std::uint64_t i = 0; i < 5; ++i) {
      const auto step = Index(draws.uniform_at(i, 0) * double(kEpochs * kSteps - 1));
      const Reached kill{step / kSteps, step % kSteps + 1};
      if (kill.steps == kSteps) continue;  // an epoch's end, as in resume_test.cc
      const std::string name = fmt::format("killed-{}-{}", ranks, step);
      run_until(name, ranks, kill, {});
      const RunRecord resumed = run(name, ranks);
      EXPECT_EQ((Reached{resumed.resumed_from, resumed.resumed_steps}), last_checkpoint_before(kill));
      expect_same(name, never, resumed);
    }
    std::filesystem::remove_all(folder_ / "never");
  }
}

TEST_P(StepResume, AStopEndsAtItsStep) {
  job_.placement.ranks = 2;
  const RunRecord never = run("never", 2);
  for (const Reached stop : {Reached{1, 1}, Reached{0, 3}, Reached{3, 5}}) {
    const std::string name = fmt::format("stopped-{}-{}", stop.epochs, stop.steps);
    EXPECT_EQ(run_until(name, 2, {}, stop).outcome, "interrupted");
    const RunRecord resumed = run(name, 2);
    EXPECT_EQ((Reached{resumed.resumed_from, resumed.resumed_steps}), stop);
    expect_same(name, never, resumed);
  }
}

/// An evaluation is due behind the last step of every second epoch; it isn't waited for, and the run goes on
/// with it. Behind another epoch's last step there is nothing to wait for.
TEST_P(StepResume, AStopInTheLastStepDoesNotWaitForTheEvaluation) {
  job_.placement.ranks = 2;
  const RunRecord never = run("never", 2);
  for (const auto& [stop, reached] : {std::pair{Reached{1, kSteps}, Reached{1, kSteps}},
                                      {Reached{2, kSteps}, Reached{3, 0}},
                                      {Reached{kEpochs - 2, kSteps}, Reached{kEpochs - 2, kSteps}}}) {
    const std::string name = fmt::format("stopped-{}", stop.epochs);
    const RunRecord stopped = run_until(name, 2, {}, stop);
    EXPECT_EQ(stopped.outcome, "interrupted");
    EXPECT_EQ(Index(stopped.epochs.size()), reached.epochs);
    const RunRecord resumed = run(name, 2);
    EXPECT_EQ((Reached{resumed.resumed_from, resumed.resumed_steps}), reached);
    EXPECT_EQ(resumed.resumed_from + Index(resumed.epochs.size()), kEpochs);
    expect_same(name, never, resumed);
    for (const EpochRecord& e : resumed.epochs)
      EXPECT_EQ(e.validation, never.epochs[std::size_t(e.epoch - 1)].validation) << "epoch " << e.epoch;
    // The first epoch that is trained claims memory, whether an evaluation came before it or not.
    const std::string growth = fmt::format("epoch {}: memory of rank 0 grew", stop.epochs + 2);
    EXPECT_THAT(messages_, testing::Each(testing::Not(testing::HasSubstr(growth)))) << name;
  }
}

/// Whole and sealed, but not of this run: it would never come to its epoch's end.
TEST_P(StepResume, AStepThatNoEpochHasIsRefused) {
  run_until("run", 1, {1, 3}, {});
  LoadedCheckpoint altered =
      read_checkpoint_state(folder_ / "run/checkpoints/epoch-000001.step-000002/state.safetensors");
  altered.state.reached.steps = kSteps + 1;
  CheckpointStore(folder_ / "run", 1, 1).commit(altered.state, {});
  EXPECT_THAT(refusal("run"), testing::HasSubstr("step-000007/state.safetensors: holds step 7 of an epoch of "
                                                 "6, and this run's epochs have 6"));
}

/// With other parts an epoch of clusters has other steps. Then the checkpoint's step isn't the one that has
/// come so far: the last of as few steps would be taken for the epoch's end, and the last of more for its
/// middle.
TEST_F(KilledSteps, AnEpochOfOtherStepsIsNotGoneOnWith) {
  for (const auto& [step, parts] : {std::pair(3, 3), {6, 12}, {3, 5}}) {
    job_ = small_job({"training.epochs=4", "training.evaluateEvery=2",
                      "strategy={kind: minibatch, minibatch: {sampler: cluster, merged: 1}}",
                      "placement.partitioner={kind: range, parts: 6}"});
    const std::string name = fmt::format("run-{}-{}", step, parts);
    EXPECT_EQ(run_until(name, 1, {}, {1, step}).outcome, "interrupted");
    job_.placement.partitioner.parts = parts;
    EXPECT_THAT(refusal(name), testing::HasSubstr(fmt::format(
                                   "holds step {} of an epoch of 6, and this run's epochs have {}; "
                                   "take as many parts and ranks as before",
                                   step, parts)));
  }
}

const std::string kNeighbours = "batchSize: 3, fanout: [3, 2]";
INSTANTIATE_TEST_SUITE_P(
    Strategies, StepResume,
    testing::Values(Steps{"minibatch", "minibatch", kNeighbours}, Steps{"p3", "p3", kNeighbours},
                    Steps{"p3_copies", "p3", kNeighbours + ", copies: 1, columns: rank"},
                    Steps{"p3_pipeline", "p3", kNeighbours + ", delay: 3"},
                    Steps{"historical", "minibatch",
                          "sampler: historical, maxAge: 5, delay: 2, " + kNeighbours},
                    Steps{"fastgcn", "minibatch", "sampler: fastgcn, batchSize: 3, layerSizes: [8, 8]"},
                    Steps{"ladies", "minibatch", "sampler: ladies, batchSize: 3, layerSizes: [8, 8]"},
                    Steps{"uniform", "minibatch", "sampler: uniform, draws: 10"}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
