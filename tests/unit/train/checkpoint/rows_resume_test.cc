// Rows that an exchange keeps from epoch to epoch (stale, cached) are part of a run's state. Resumed on the
// same ranks, the run equals one never killed; on other ranks it goes on without these rows.
#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

struct KeptRows {
  const char *name, *kind, *options;
  const char* kept = "rows of earlier epochs";
};

/// Of the epochs after `epoch`, which the record holds at its end.
std::vector<double> losses_after(const RunRecord& run, Index epoch) {
  std::vector<double> losses;
  for (const EpochRecord& each : run.epochs)
    if (each.epoch > epoch) losses.push_back(each.loss);
  return losses;
}

class RowsResume : public KilledRuns, public testing::WithParamInterface<KeptRows> {
 protected:
  RowsResume() {
    job_ = small_job({"training.epochs=17", "training.evaluateEvery=3", "training.checkpoint={every: 2}",
                      "training.optimizer={kind: adam, learningRate: 0.05}",
                      fmt::format("strategy.kind={}", GetParam().kind),
                      fmt::format("strategy.{}={}", GetParam().kind, GetParam().options)});
  }
};

TEST_P(RowsResume, OnTheSameRanksItIsTheRunThatWasNeverKilled) {
  const RunRecord never = run("never", 3);
  for (const Index kill : {3, 6, 12, 16}) {
    const std::string name = fmt::format("killed-{}", kill);
    run(name, 3, kill);
    const RunRecord resumed = run(name, 3);
    EXPECT_THAT(messages_, testing::Not(testing::Contains(testing::HasSubstr("belong to other parts"))))
        << name;
    EXPECT_EQ(resumed.resumed_from, (kill - 1) / 2 * 2);
    EXPECT_EQ(losses_after(resumed, resumed.resumed_from), losses_after(never, resumed.resumed_from)) << name;
    for (const char* file : {"model.safetensors", "predictions.npy"})
      EXPECT_EQ(read_bytes(folder_ / name / file), read_bytes(folder_ / "never" / file))
          << name << " " << file;
  }
}

TEST_P(RowsResume, OnOtherRanksItGoesOnWithoutThem) {
  run("killed", 3, 9);
  const RunRecord resumed = run("killed", 2);
  EXPECT_EQ(resumed.resumed_from, 8);
  EXPECT_EQ(losses_after(resumed, 8).size(), 9U);
  EXPECT_THAT(messages_,
              testing::Contains(testing::HasSubstr(fmt::format(
                  "the checkpoint's {} belong to other parts or ranks: training goes on without them",
                  GetParam().kept))));
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, RowsResume,
    testing::Values(KeptRows{"pipegcn", "pipegcn", "{smoothing: both, decay: 0.8}"},
                    KeptRows{"sancus_fixed", "sancus", "{warmup: 3, every: 3}"},
                    KeptRows{"sancus_bounded", "sancus",
                             "{rule: bounded, threshold: 0.2, staleness: 3, gradients: withRows}"},
                    KeptRows{"gnnpipe", "gnnpipe", "{chunks: 6, historyRefresh: 4}"},
                    KeptRows{"p3_pipeline", "p3", "{delay: 3, batchSize: 7}", "weights of steps under way"},
                    KeptRows{"historical", "minibatch",
                             "{sampler: historical, batchSize: 7, fanout: [2, 2, 2], maxAge: 9}",
                             "historical embeddings"},
                    KeptRows{"dgs", "dgs",
                             "{batchSize: 7, fanout: [2, 2, 2], explainEvery: 4, explainEpochs: 5}",
                             "masks"}),
    [](const auto& each) { return each.param.name; });

/// On 3 ranks the first stage has one layer, which reads features: no history, but the others' is lost all
/// the same.
class MoreStagesResume : public KilledRuns {
 protected:
  MoreStagesResume() {
    job_ = small_job({"training.epochs=9", "training.checkpoint={every: 2}", "strategy.kind=gnnpipe",
                      "strategy.gnnpipe={chunks: 6}"});
  }
};

TEST_F(MoreStagesResume, SaysThatRowsAreLostOnAnyStage) {
  run("two", 2, 6);
  EXPECT_EQ(run("two", 3).resumed_from, 4);
  EXPECT_THAT(messages_, testing::Contains(testing::HasSubstr("training goes on without them")));
}

/// Copies that each epoch draws anew are no state: a draw is the epoch's alone.
class RedrawnResume : public KilledRuns, public testing::WithParamInterface<std::string> {
 protected:
  RedrawnResume() {
    job_ = small_job({"training.epochs=9", "training.checkpoint={every: 2}", "placement.ranks=4",
                      "placement.ranksPerServer=2", "strategy.kind=granndis",
                      "strategy.granndis=" + GetParam()});
  }
};

INSTANTIATE_TEST_SUITE_P(Copies, RedrawnResume,
                         testing::Values("{fanout: 1, redraw: epoch}", "{fanout: 1, batches: 3}",
                                         "{fanout: 1, batches: 2, redraw: epoch}"));

TEST_P(RedrawnResume, IsTheRunThatWasNeverKilled) {
  const RunRecord never = run("never", 4);
  run("killed", 4, 6);
  const RunRecord resumed = run("killed", 4);
  EXPECT_EQ(resumed.resumed_from, 4);
  EXPECT_EQ(losses_after(resumed, 4), losses_after(never, 4));
  EXPECT_EQ(read_bytes(folder_ / "killed" / "model.safetensors"),
            read_bytes(folder_ / "never" / "model.safetensors"));
}

/// Servers train their batches step by step, on parts that are cut anew. An evaluation needs none of them.
TEST_F(KilledRuns, AStopBehindTheLastBatchOfServersGoesOnWithTheEvaluation) {
  job_ = small_job({"training.epochs=7", "training.evaluateEvery=2", "placement.ranks=4",
                    "placement.ranksPerServer=2", "strategy.kind=granndis",
                    "strategy.granndis={fanout: 1, batches: 3}"});
  const RunRecord never = run("never", 4);
  EXPECT_EQ(run_until("stopped", 4, {}, {3, 3}).outcome, "interrupted");
  const RunRecord resumed = run("stopped", 4);
  EXPECT_EQ((Reached{resumed.resumed_from, resumed.resumed_steps}), (Reached{3, 3}));
  EXPECT_EQ(losses_after(resumed, 3), losses_after(never, 3));
  EXPECT_EQ(resumed.epochs.front().validation, never.epochs[3].validation);
  EXPECT_EQ(read_bytes(folder_ / "stopped" / "model.safetensors"),
            read_bytes(folder_ / "never" / "model.safetensors"));
}

}  // namespace
}  // namespace atl
