// A killed run goes on with another number of ranks: in float64 its losses and weights equal those of a run
// never killed.
#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

class ResumeOnOtherRanks : public KilledRuns {
 protected:
  /// Epochs after a resume alone: nobody wrote metrics.jsonl, from which the others come.
  void expect_near(const RunRecord& never, const RunRecord& resumed) {
    for (const EpochRecord& e : resumed.epochs) {
      const double loss = never.epochs[std::size_t(e.epoch - 1)].loss;
      EXPECT_NEAR(e.loss, loss, 1e-9 * loss) << "epoch " << e.epoch;
    }
    EXPECT_EQ(resumed.best_epoch, never.best_epoch);
    EXPECT_EQ(resumed.validation, never.validation);
    EXPECT_EQ(resumed.test, never.test);
    const std::vector<double> a = weights("never"), b = weights("resumed");
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9 * std::max(1.0, std::abs(a[i])));
  }
};

TEST_F(ResumeOnOtherRanks, GoesOnAsIfNothingHadHappened) {
  const RunRecord never = run("never", 2);
  ASSERT_EQ(never.epochs.size(), 17u);
  for (const auto& [before, after] : {std::pair(2, 3), std::pair(3, 1), std::pair(1, 4)}) {
    run("resumed", before, 9);
    const RunRecord resumed = run("resumed", after);
    EXPECT_EQ(resumed.resumed_from, 8) << "the last checkpoint before the kill";
    ASSERT_EQ(resumed.epochs.back().epoch, 17);
    expect_near(never, resumed);
    std::filesystem::remove_all(folder_ / "resumed");
  }
}

}  // namespace
}  // namespace atl
