// The output of --json is an interface, which scripts and the operator read.
#include "telemetry/run_folder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

TEST(JsonEvents, AnEpochsLine) {
  EpochRecord epoch = sample_epoch(4);
  EXPECT_EQ(epoch_event(epoch),
            R"({"event":"epoch","epoch":4,"loss":0.5,"validation":0.75,"epochSeconds":0.25,)"
            R"("bytes":{"intra":1000,"inter":2000}})");
  epoch.validation.reset();
  epoch.loss = NAN;
  EXPECT_EQ(epoch_event(epoch),
            R"({"event":"epoch","epoch":4,"loss":null,"validation":null,"epochSeconds":0.25,)"
            R"("bytes":{"intra":1000,"inter":2000}})");
}

TEST(JsonEvents, ASummaryCountsTheEpochsOfAResumedRunOnce) {
  RunRecord run = sample_run();
  run.epochs = {sample_epoch(1), sample_epoch(2), sample_epoch(3)};
  run.resumed_from = 2;
  EXPECT_NE(result_summary(run).find(R"("epochs":3,)"), std::string::npos) << result_summary(run);
}

TEST(JsonEvents, ASummaryHasTheLargestRanksPeakUnderItsOwnName) {
  const std::string summary = result_summary(sample_run());
  EXPECT_NE(summary.find(R"("largestPeakMemoryBytes":125829120)"), std::string::npos) << summary;
  EXPECT_EQ(summary.find(R"("peakMemoryBytes")"), std::string::npos) << summary;
}

TEST(JsonEvents, TheResultsLine) {
  EXPECT_EQ(
      result_event(sample_run()),
      R"({"event":"result","test":0.815,"testF1Macro":0.9240839826027099,"testMajority":0.38461538461538464,"validation":0.75,"bestEpoch":4,"epochSecondsMedian":0.25,)"
      R"("startupSeconds":1.5,"peakMemoryBytes":[104857600,125829120],"output":"results/cora-gcn"})");
}

TEST(JsonEvents, OutputHoldsEventsAloneMessagesGoElsewhere) {
  TemporaryFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  std::FILE* err = std::fopen((folder / "err").c_str(), "w");
  const RunRecord run = sample_run();
  const auto observer = make_json_events(out, err);
  observer->on_start(run);
  observer->on_message(MessageLevel::kWarning, "field x is ignored");
  observer->on_epoch(run.epochs[0]);
  observer->on_checkpoint({1, 0});
  EXPECT_EQ(read_bytes(folder / "out"), epoch_event(run.epochs[0]) + "\n");  // flushed at once
  observer->on_result(run);
  std::fclose(out);
  std::fclose(err);
  EXPECT_EQ(read_bytes(folder / "out"), epoch_event(run.epochs[0]) + "\n" + result_event(run) + "\n");
  EXPECT_EQ(read_bytes(folder / "err"), "atoll: warning: field x is ignored\n");
}

}  // namespace
}  // namespace atl
