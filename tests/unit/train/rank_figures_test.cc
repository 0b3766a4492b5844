// A run's record of each rank: where an epoch's time goes, and the bytes by purpose.
#include <gmock/gmock.h>

#include "telemetry/rank_meter.h"
#include "telemetry/report/report.h"
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
  EXPECT_EQ(sent(run), 12 * (any.bytes.intra + any.bytes.inter));
  EXPECT_GT(sent(run), 0);
  this->run("killed", 3, 8);
  const RunRecord resumed = this->run("killed", 3);
  ASSERT_EQ(resumed.resumed_from, 5);
  EXPECT_EQ(sent(resumed), 7 * (any.bytes.intra + any.bytes.inter));
}

/// Each epoch follows an evaluation, and none is steady. Rank 0, which has read the epochs before, gave
/// theirs for its own.
TEST_F(RankFigures, ATypicalEpochIsOfThoseSinceTheStart) {
  job_ = small_job({"training.epochs=12", "training.evaluateEvery=1", "training.checkpoint={every: 5}"});
  this->run("killed", 3, 8);
  const RunRecord resumed = this->run("killed", 3);
  ASSERT_EQ(resumed.resumed_from, 5);
  std::vector<double> seconds;
  for (const EpochRecord& epoch : resumed.epochs)
    if (epoch.epoch > 5) seconds.push_back(epoch.epoch_seconds);
  ASSERT_EQ(seconds.size(), 7U);
  EXPECT_NEAR(resumed.typical_by_rank[0].epoch_seconds, median(seconds), 2e-9);
}

class PipelineFigures : public KilledRuns {
 protected:
  PipelineFigures() {
    job_ = small_job({"model.layers=4", "training.epochs=3", "placement.ranks=4", "strategy.kind=gnnpipe",
                      "strategy.gnnpipe={stages: 2, chunks: 6, shuffle: false}"});
  }
};

/// A stage begins a chunk when the stage before has ended it, and goes back likewise, in the reverse order.
TEST_F(PipelineFigures, TellWhenEachStageWorkedOnEachChunk) {
  const RunRecord run = this->run("whole", 4);
  ASSERT_TRUE(run.pipeline);
  EXPECT_EQ(run.pipeline->epoch, 3);
  ASSERT_EQ(run.pipeline->stages.size(), 2U);
  constexpr double kClocks = 2e-4;  // seconds that two ranks' clocks may be apart, once compared
  const auto &first = run.pipeline->stages[0], &second = run.pipeline->stages[1];
  ASSERT_EQ(first.size(), 6U);
  ASSERT_EQ(second.size(), 6U);
  for (std::size_t c = 0; c < 6; ++c) {
    EXPECT_EQ(first[c].chunk, int(c));
    EXPECT_EQ(second[c].chunk, int(c));
    EXPECT_GT(second[c].forward_begin, first[c].forward_end - kClocks);
    EXPECT_GT(first[c].backward_begin, second[c].backward_end - kClocks);
    if (c > 0) {
      EXPECT_GE(first[c].forward_begin, first[c - 1].forward_end);
      EXPECT_GE(first[c - 1].backward_begin, first[c].backward_end);
    }
  }
  EXPECT_GT(run.pipeline->bubble, 0);
  EXPECT_LT(run.pipeline->bubble, 1);
  EXPECT_THAT(report_html(run), testing::HasSubstr("Chunks by stage"));
  job_ = small_job({"training.epochs=3"});
  EXPECT_FALSE(this->run("graph", 2).pipeline);
}

/// Two stages and two chunks, a second each way: of six seconds each stage works four.
TEST(PipelineEpochOf, BubblesAreWhatIsNotWorked) {
  const std::vector<ChunkTimes> first{{{10, 11}, {15, 16}, 1}, {{11, 12}, {14, 15}, 0}},
      second{{{11, 12}, {14, 15}, 1}, {{12, 13}, {13, 14}, 0}};
  const std::vector<StageTimes> ranks{{0, 3, true, first}, {1, 2, true, second}};
  const PipelineEpoch epoch = pipeline_epoch(ranks);
  EXPECT_NEAR(epoch.bubble, 1 - 4.0 / 6, 1e-12);
  EXPECT_EQ(epoch.convolutions, (std::vector<int>{3, 2}));
  ASSERT_EQ(epoch.stages.size(), 2U);
  EXPECT_EQ(epoch.stages[0][0].chunk, 1);
  EXPECT_NEAR(epoch.stages[1][1].backward_begin, 3, 1e-12);
}

TEST(PipelineEpochOf, ManyChunksAreToldInGroups) {
  std::vector<ChunkTimes> chunks;
  for (int c = 0; c < 1000; ++c) chunks.push_back({{double(c), c + 1.0}, {2000.0 - c, 2001.0 - c}, c});
  const std::vector<StageTimes> ranks{{0, 1, true, chunks}};
  const PipelineEpoch epoch = pipeline_epoch(ranks);
  ASSERT_EQ(epoch.stages[0].size(), 64U);
  EXPECT_EQ(epoch.stages[0][0].forward_begin, 0);
  EXPECT_EQ(epoch.stages[0][0].backward_end, 2001);
  EXPECT_EQ(epoch.stages[0][63].forward_end, 1000);
}

}  // namespace
}  // namespace atl
