// PipeGCN resumed on other ranks than those whose stale rows were saved: its first epoch is exact and fills
// the buffers.
#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

struct Stale {
  const char *name, *options;
};
constexpr Stale kPlain{"plain", "{smoothing: none}"}, kSmooth{"smooth", "{smoothing: both, decay: 0.8}"},
    kSampled{"sampled", "{boundaryRate: 0.5}"};

class StaleResume : public KilledRuns, public testing::WithParamInterface<Stale> {
 protected:
  /// Kills a run of three ranks in its ninth epoch, and ends it after `epochs` on `ranks`.
  RunRecord resumed(const std::string& output, int ranks, Index epochs, Index kill_again = 0) {
    job_ = job_of(17);
    run(output, 3, 9);
    job_.training.epochs = epochs;
    if (kill_again > 0) run(output, ranks, kill_again);
    return run(output, ranks);
  }
  static Job job_of(Index epochs) {
    return small_job({fmt::format("training.epochs={}", epochs), "training.evaluateEvery=3",
                      "training.checkpoint={every: 1}", "training.optimizer={kind: adam, learningRate: 0.05}",
                      "strategy.kind=pipegcn", fmt::format("strategy.pipegcn={}", GetParam().options)});
  }
};

class StaleResumeOfAllRows : public StaleResume {};

/// On one rank nothing is ever late.
TEST_P(StaleResumeOfAllRows, ItsFirstEpochIsExact) {
  const RunRecord one = resumed("one", 1, 9);
  for (const int ranks : {2, 4}) {
    const std::string name = fmt::format("on-{}", ranks);
    const RunRecord many = resumed(name, ranks, 9);
    EXPECT_EQ(many.resumed_from, 8);
    EXPECT_NEAR(many.epochs.back().loss, one.epochs.back().loss, 1e-9) << ranks << " ranks";
    const std::vector<double> expected = weights("one"), got = weights(name);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-9) << "weight " << i;
  }
}

/// The epoch after it uses its rows and gradients once more; all after that are late by one epoch again.
TEST_P(StaleResumeOfAllRows, AndThenTheyAreLateAgain) {
  const double one = resumed("one", 1, 11).epochs.back().loss, two = resumed("two", 2, 11).epochs.back().loss;
  EXPECT_GT(std::abs(one - two), 1e-6);
  EXPECT_NEAR(one, two, 0.1 * one);
}

/// Its checkpoints are those of any run.
TEST_P(StaleResume, KilledAfterItIsTheRunThatWasNotKilledAgain) {
  const RunRecord once = resumed("once", 2, 17), twice = resumed("twice", 2, 17, 10);
  EXPECT_EQ(twice.resumed_from, 9);
  EXPECT_EQ(once.epochs.back().loss, twice.epochs.back().loss);
  EXPECT_EQ(weights("once"), weights("twice"));
}

const auto name_of = [](const auto& each) { return each.param.name; };
INSTANTIATE_TEST_SUITE_P(Options, StaleResumeOfAllRows, testing::Values(kPlain, kSmooth), name_of);
INSTANTIATE_TEST_SUITE_P(Options, StaleResume, testing::Values(kPlain, kSmooth, kSampled), name_of);

}  // namespace
}  // namespace atl
