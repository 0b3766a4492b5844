// What a run's record says of each rank: where an epoch's time goes, and what was sent for what.
#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

class RankFigures : public KilledRuns {
 protected:
  RankFigures() {
    job_ = small_job({"training.epochs=12", "training.evaluateEvery=4", "training.checkpoint={every: 5}"});
  }
  static std::int64_t sent(const RunRecord& run) {
    std::int64_t bytes = 0;
    for (const LinkTraffic& t : run.training_traffic) bytes += t.bytes;
    return bytes;
  }
};

TEST_F(RankFigures, AnEpochIsComputeAndWhatIsWaitedFor) {
  const RunRecord run = this->run("whole", 3);
  ASSERT_EQ(run.typical_by_rank.size(), 3U);
  for (const TypicalEpoch& rank : run.typical_by_rank) {
    EXPECT_GT(rank.compute_seconds, 0);
    EXPECT_GT(rank.communication_seconds, 0);
    EXPECT_LE(rank.compute_seconds, rank.epoch_seconds);
    EXPECT_LE(rank.exposed_seconds, rank.epoch_seconds);
    EXPECT_LE(rank.communication_seconds, rank.epoch_seconds * 1.01) << "lanes that overlap count once";
  }
}

TEST_F(RankFigures, TrafficIsThatOfTheEpochsSinceTheStart) {
  const RunRecord run = this->run("whole", 3);
  const EpochRecord& any = run.epochs.back();
  EXPECT_EQ(sent(run), 12 * (any.bytes_intra + any.bytes_inter));
  EXPECT_GT(sent(run), 0);
  this->run("killed", 3, 8);
  const RunRecord resumed = this->run("killed", 3);
  ASSERT_EQ(resumed.resumed_from, 5);
  EXPECT_EQ(sent(resumed), 7 * (any.bytes_intra + any.bytes_inter));
}

}  // namespace
}  // namespace atl
