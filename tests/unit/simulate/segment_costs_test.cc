// The cost of a recorded segment: its chunk or batch, and how several epochs give one value.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "simulate/record.h"
#include "strategies/gnnpipe/pipeline.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kEpochs = 4;

TEST(SegmentCosts, AreMediansOfTheSameWork) {
  RankRecording rank;
  const auto segment = [&](double seconds, Work work) {
    rank.steps.push_back(
        {.kind = RecordedStep::Kind::kCompute, .seconds = seconds, .label = {.layer = 0, .work = work}});
  };
  for (const int epoch : {1, 2, 3, 4}) {
    rank.steps.push_back({.kind = RecordedStep::Kind::kEpoch, .label = {.epoch = epoch}});
    segment(epoch == 1 ? 9 : epoch, Work::kForward);
    segment(10, Work::kForward);
    if (epoch == 4) segment(7, Work::kBackward);  // work that other epochs leave out
  }
  const double spread = settle_costs(rank);
  std::vector<double> seconds;
  for (const RecordedStep& step : rank.steps)
    if (step.kind == RecordedStep::Kind::kCompute) seconds.push_back(step.seconds);
  EXPECT_EQ(seconds, (std::vector<double>{3, 10, 3, 10, 3, 10, 3, 10, 7}));
  EXPECT_NEAR(spread, 2.0 / (3 * 3 + 3 * 10 + 7), 1e-12);
}

/// Chunks of 1 and 10 seconds, of which each epoch does another one first: either costs what it costs,
/// whichever was first when.
TEST(SegmentCosts, AreThoseOfTheSameChunk) {
  RankRecording rank;
  for (const int epoch : {1, 2, 3, 4}) {
    rank.steps.push_back({.kind = RecordedStep::Kind::kEpoch, .label = {.epoch = epoch}});
    for (const int place : {0, 1}) {
      const int chunk = (epoch % 2 + place) % 2;
      rank.steps.push_back({.kind = RecordedStep::Kind::kCompute,
                            .seconds = (chunk == 0 ? 1 : 10) + 0.125 * (epoch == 3),
                            .label = {.layer = 0, .work = Work::kForward},
                            .unit = chunk});
    }
  }
  settle_costs(rank);
  for (const RecordedStep& step : rank.steps)
    if (step.kind == RecordedStep::Kind::kCompute) {
      EXPECT_EQ(step.seconds, step.unit == 0 ? 1 : 10) << "chunk " << step.unit;
    }
}

/// Mini-batches of 1, 1 and 7 seconds are three seconds each: none of them is measured twice.
TEST(SegmentCosts, AreMeansWhereBatchesAreDrawnAnew) {
  RankRecording rank;
  double sum = 0;
  for (const int epoch : {1, 2, 3, 4}) {
    const double seconds = epoch == 1 ? 50 : epoch == 4 ? 7 : 1;
    rank.steps.push_back({.kind = RecordedStep::Kind::kEpoch, .label = {.epoch = epoch}});
    rank.steps.push_back({.kind = RecordedStep::Kind::kTake});
    rank.steps.push_back({.kind = RecordedStep::Kind::kCompute,
                          .seconds = seconds,
                          .label = {.layer = 0, .work = Work::kForward}});
    rank.batches.all.push_back(
        {.steps = {{.kind = RecordedStep::Kind::kCompute, .seconds = 2 * seconds}}, .operations = {}});
  }
  settle_costs(rank);
  for (const RecordedStep& step : rank.steps)
    if (step.kind == RecordedStep::Kind::kCompute) {
      EXPECT_DOUBLE_EQ(step.seconds, 3);
      sum += step.seconds;
    }
  EXPECT_DOUBLE_EQ(sum, 12);
  for (const RecordedBatch& batch : rank.batches.all) EXPECT_DOUBLE_EQ(batch.steps[0].seconds, 6);
}

/// Forward and back, in each epoch's own order of chunks, which the job's seed draws.
TEST(Recorder, APipelinesSegmentsNameTheirChunks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  constexpr int kChunks = 4;
  const Job job = small_job(
      {"strategy={kind: gnnpipe, gnnpipe: {stages: 2, chunks: 4}}", "placement.ranks=2", "model.layers=3"});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                            training_marks(dataset, job));
  const RecordOptions options{.epochs = kEpochs, .at_once = 1, .hosts = {"a", "b"}};
  for (const Recording& recording :
       {record_run(job, dataset, prepared, options), record_alone(job, dataset, prepared, options)})
    for (const RankRecording& rank : recording.ranks) {
      std::int64_t epoch = 0;
      std::map<std::pair<std::int64_t, Work>, std::vector<int>> seen;  // chunks, in turn
      for (const RecordedStep& step : rank.steps) {
        if (step.kind == RecordedStep::Kind::kEpoch) epoch = step.label.epoch;
        auto& units = seen[{epoch, step.label.work}];
        if (step.unit >= 0 && (units.empty() || units.back() != step.unit)) units.push_back(step.unit);
      }
      for (std::int64_t e = 1; e <= kEpochs; ++e) {
        std::vector<int> order(kChunks);
        put_chunk_order(order, true, job.training.seed, e);
        EXPECT_EQ((seen[{e, Work::kForward}]), order) << "epoch " << e;
        std::ranges::reverse(order);
        EXPECT_EQ((seen[{e, Work::kBackward}]), order) << "epoch " << e;
      }
    }
}

/// A server's batches are the same ones in each epoch, in the same order, and what is simulated of a batch is
/// what it costs: forward and back, which are one segment where nothing is exchanged in between.
TEST(Recorder, CooperativeBatchesAreNamed) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job({"strategy={kind: granndis, granndis: {batches: 3}}", "placement.ranks=2",
                             "placement.ranksPerServer=1"});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                            training_marks(dataset, job));
  const Recording recording =
      record_run(job, dataset, prepared, {.epochs = kEpochs, .at_once = 1, .hosts = {"a", "b"}});
  for (const RankRecording& rank : recording.ranks) {
    std::int64_t epoch = 0;
    std::map<std::int64_t, std::vector<int>> batches;                   // by epoch, in turn
    std::map<std::pair<int, std::int64_t>, std::vector<double>> costs;  // by batch and epoch
    for (const RecordedStep& step : rank.steps) {
      if (step.kind == RecordedStep::Kind::kEpoch) epoch = step.label.epoch;
      if (step.kind != RecordedStep::Kind::kCompute || step.label.work == Work::kNone) continue;
      if (step.unit >= 0 && (batches[epoch].empty() || batches[epoch].back() != step.unit))
        batches[epoch].push_back(step.unit);
      costs[{step.unit, epoch}].push_back(step.seconds);
    }
    for (std::int64_t e = 2; e <= kEpochs; ++e) {
      EXPECT_EQ(batches[e], (std::vector<int>{0, 1, 2})) << "epoch " << e;
      for (const int batch : {0, 1, 2}) {
        EXPECT_FALSE((costs[{batch, e}].empty())) << "batch " << batch;
        EXPECT_EQ((costs[{batch, e}]), (costs[{batch, 2}])) << "batch " << batch << " of epoch " << e;
      }
    }
  }
}

}  // namespace
}  // namespace atl
