#include "telemetry/progress.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Shown {
  std::string out, err;
};

/// All of a run of `epochs` epochs in one style, with a warning and a message.
Shown show(ProgressStyle style, Index epochs) {
  TemporaryFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  std::FILE* err = std::fopen((folder / "err").c_str(), "w");
  const RunRecord run = sample_run(epochs);
  const auto progress = make_progress(style, out, err);
  RunRecord start = run;
  start.epochs.clear();
  progress->on_start(start);
  for (const EpochRecord& epoch : run.epochs) progress->on_epoch(epoch);
  progress->on_message(MessageLevel::kInfo, "checkpoint written");
  progress->on_message(MessageLevel::kWarning, "field x is ignored");
  progress->on_result(run);
  std::fclose(out);
  std::fclose(err);
  return {read_bytes(folder / "out"), read_bytes(folder / "err")};
}

std::string shown_result(const RunRecord& run) {
  TemporaryFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  make_progress(ProgressStyle::kLines, out, stderr)->on_result(run);
  std::fclose(out);
  return read_bytes(folder / "out");
}

TEST(Progress, PlainLinesSayEverything) {
  const Shown shown = show(ProgressStyle::kLines, 4);
  EXPECT_THAT(shown.out,
              HasSubstr("cora-gcn: gcn on cora (2,708 vertices, 10,556 arcs), strategy graph, 2 ranks\n"));
  EXPECT_THAT(shown.out, HasSubstr("epoch 1/4  loss 2.0000  250 ms/epoch  2.93 KiB/epoch\n"));
  EXPECT_THAT(shown.out, HasSubstr("epoch 4/4  loss 0.5000  validation 75.0 %"));
  EXPECT_THAT(shown.out, HasSubstr("completed: test accuracy 81.5 %, validation 75.0 % (epoch 4)"));
  EXPECT_THAT(shown.out, HasSubstr("at most 120 MiB of memory per rank\nresults in results/cora-gcn\n"));
  EXPECT_THAT(shown.out, Not(HasSubstr("\x1b")));
  EXPECT_EQ(shown.err, "atoll: warning: field x is ignored\n");
}

TEST(Progress, AccuracyIsShownBesideTheMajority) {
  RunRecord run = sample_run();
  run.confusion = {2, {78, 0, 20, 2}};
  EXPECT_THAT(shown_result(run),
              HasSubstr("test accuracy 81.5 % (78.0 % are of class 0, F1 (macro) 52.7 %), "));
  run.setting.metric = "f1Macro";
  EXPECT_THAT(shown_result(run), HasSubstr("test F1 (macro) 81.5 %, validation"));
}

TEST(Progress, ARunWithoutAWholeEpochHasNoTimeOfOne) {
  RunRecord run = sample_run();
  run.epoch_seconds_median = 0;
  EXPECT_THAT(shown_result(run), HasSubstr("; no epoch was trained to its end, started in"));
  EXPECT_THAT(shown_result(run), testing::Not(HasSubstr("/epoch")));
}

TEST(Progress, ALongRunHasFewLines) {
  const Shown shown = show(ProgressStyle::kLines, 10000);
  EXPECT_LE(std::count(shown.out.begin(), shown.out.end(), '\n'), 26);
  EXPECT_THAT(shown.out, HasSubstr("epoch     1/10000"));
  EXPECT_THAT(shown.out, HasSubstr("epoch 10000/10000"));
}

TEST(Progress, ATerminalsLineIsRedrawnAndEndsAtTheLastEpoch) {
  const Shown shown = show(ProgressStyle::kRedrawn, 1000);
  EXPECT_LE(std::count(shown.out.begin(), shown.out.end(), '\r'), 30);
  EXPECT_THAT(shown.out, HasSubstr("epoch 1000/1000"));
  EXPECT_THAT(shown.out, HasSubstr("\r\x1b[Kcheckpoint written\n"));  // the line is gone before text comes
  std::istringstream pieces(shown.out);
  for (std::string piece; std::getline(pieces, piece, '\r');) {
    if (piece.find("loss") == std::string::npos) continue;
    const auto begins_character = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
    const auto end = piece.begin() + std::ptrdiff_t(piece.find("\x1b[K"));
    EXPECT_LE(std::count_if(piece.begin(), end, begins_character), 79) << piece;  // no terminal: 80 columns
  }
}

/// An epoch may last for hours.
TEST(Progress, StepsOfAnEpochAreShown) {
  TemporaryFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  const auto progress = make_progress(ProgressStyle::kRedrawn, out, stderr);
  RunRecord run = sample_run(4);
  run.epochs.clear();
  progress->on_start(run);
  std::this_thread::sleep_for(std::chrono::milliseconds(120));  // more than between two drawings
  progress->on_step({3, 45, 90, 0.75});
  std::fclose(out);
  EXPECT_THAT(read_bytes(folder / "out"), HasSubstr("█░░░░░░░░ epoch 3/4  step 45/90  loss 0.7500\x1b[K"));
}

TEST(Progress, QuietShowsWarningsAlone) {
  const Shown shown = show(ProgressStyle::kQuiet, 4);
  EXPECT_EQ(shown.out, "");
  EXPECT_EQ(shown.err, "atoll: warning: field x is ignored\n");
}

TEST(Progress, AFileIsNoTerminal) {
  TemporaryFolder folder;
  std::FILE* out = std::fopen((folder / "out").c_str(), "w");
  EXPECT_EQ(progress_style(out, false), ProgressStyle::kLines);
  EXPECT_EQ(progress_style(out, true), ProgressStyle::kQuiet);
  std::fclose(out);
}

TEST(TimeLeft, IsTheMeanOfEpochsAfterTheFirst) {
  TimeLeft left;
  const TimeLeft::Clock::time_point start{};
  EXPECT_EQ(left.after(1, 10, start + std::chrono::seconds(100)), std::nullopt);  // the first warms up
  EXPECT_DOUBLE_EQ(*left.after(2, 10, start + std::chrono::seconds(102)), 16);
  EXPECT_DOUBLE_EQ(*left.after(3, 10, start + std::chrono::seconds(106)), 21);
}

}  // namespace
}  // namespace atl
