#include "telemetry/run_folder.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "telemetry/sample_run.h"
#include "temporary_folder.h"

namespace atl {
namespace {

using testing::HasSubstr;

constexpr Index kAll = std::numeric_limits<Index>::max();

/// As the loop does: start, every epoch, result.
void write_run(const std::filesystem::path& folder, const RunRecord& run) {
  const auto writer = make_run_folder_writer(folder);
  RunRecord start = run;
  start.epochs.clear();
  writer->on_start(start);
  for (const EpochRecord& epoch : run.epochs) writer->on_epoch(epoch);
  writer->on_result(run);
}

TEST(RunFolder, GivesBackTheWholeRecord) {
  TemporaryFolder folder;
  const RunRecord run = sample_run();
  write_run(folder.path(), run);
  const RunRecord read = read_run(folder.path());
  EXPECT_EQ(run_document(read), run_document(run));
  ASSERT_EQ(read.epochs.size(), run.epochs.size());
  for (std::size_t i = 0; i < run.epochs.size(); ++i)
    EXPECT_EQ(epoch_line(read.epochs[i]), epoch_line(run.epochs[i]));
  EXPECT_EQ(read.setting.job_yaml, run.setting.job_yaml);
  EXPECT_EQ(read.setting.hosts, run.setting.hosts);
  EXPECT_EQ(read.setting.cpus, run.setting.cpus);
  EXPECT_EQ(read.phases_by_rank[1][1].name, "communication");
  EXPECT_EQ(read.phases_by_rank[1][1].seconds, 0.3);
  EXPECT_EQ(read.confusion.counts, run.confusion.counts);
  EXPECT_EQ(read.epochs[3].validation, 0.75);
  EXPECT_EQ(read.epochs[2].validation, std::nullopt);
  EXPECT_EQ(read.epochs[3].own.traffic[1].purpose, "gradient");
}

TEST(RunFolder, NumbersThatArentFiniteSurviveAsUnknown) {
  TemporaryFolder folder;
  RunRecord run = sample_run();
  run.epochs[1].loss = INFINITY;
  run.test.reset();
  write_run(folder.path(), run);
  const RunRecord read = read_run(folder.path());
  EXPECT_TRUE(std::isnan(read.epochs[1].loss));
  EXPECT_EQ(read.test, std::nullopt);
}

TEST(RunFolder, EveryEpochIsThereAsSoonAsItEnded) {
  TemporaryFolder folder;
  const RunRecord run = sample_run();
  RunRecord start = run;
  start.epochs.clear();
  const auto writer = make_run_folder_writer(folder.path());
  writer->on_start(start);
  writer->on_epoch(run.epochs[0]);
  EXPECT_EQ(read_epochs(folder.path(), kAll).size(), 1u);
  EXPECT_EQ(read_run(folder.path()).setting.dataset, "cora");
}

TEST(RunFolder, AResumedRunsFileReadsLikeThatOfOneNeverKilled) {
  TemporaryFolder killed, whole;
  const RunRecord run = sample_run(6);
  write_run(whole.path(), run);
  write_run(killed.path(), sample_run(4));
  {
    std::ofstream torn(killed / "metrics.jsonl", std::ios::app);
    torn << R"({"epoch":5,"lo)";
  }
  RunRecord again = run;
  again.resumed_from = 2;
  again.epochs = read_epochs(killed.path(), 2);
  ASSERT_EQ(again.epochs.size(), 2u);
  const auto writer = make_run_folder_writer(killed.path());
  writer->on_start(again);
  for (std::size_t i = 2; i < run.epochs.size(); ++i) writer->on_epoch(run.epochs[i]);
  EXPECT_EQ(read_bytes(killed / "metrics.jsonl"), read_bytes(whole / "metrics.jsonl"));
}

TEST(RunFolder, AFileThatWasReplacedOrRemovedIsNotWrittenUnseen) {
  TemporaryFolder folder;
  const RunRecord run = sample_run();
  const auto writer = make_run_folder_writer(folder.path());
  writer->on_start(run);
  write_bytes(folder / "other", "");
  std::filesystem::rename(folder / "other", folder / "metrics.jsonl");
  EXPECT_THAT(error_of([&] { writer->on_epoch(run.epochs[0]); }), HasSubstr("metrics.jsonl: is gone"));
  std::filesystem::remove(folder / "metrics.jsonl");
  EXPECT_THAT(error_of([&] { writer->on_epoch(run.epochs[0]); }), HasSubstr("metrics.jsonl: is gone"));
}

TEST(RunFolder, AFinishedRunThatIsToldAgainIsNotWritten) {
  TemporaryFolder folder;
  make_run_folder_writer(folder.path())->on_result(sample_run());
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(RunFolder, ALineThatAKillCutShortIsLeftOut) {
  TemporaryFolder folder;
  write_run(folder.path(), sample_run(4));
  const std::string lines = read_bytes(folder / "metrics.jsonl");
  for (const std::size_t lost : {1, 2, 50}) {
    write_bytes(folder / "metrics.jsonl", lines.substr(0, lines.size() - lost));
    EXPECT_EQ(read_epochs(folder.path(), kAll).size(), 3u) << lost;
  }
}

/// As a loss of power may leave the end of a file.
TEST(RunFolder, NothingBehindTheLastCheckpointHoldsUpAResume) {
  TemporaryFolder folder;
  write_run(folder.path(), sample_run());
  const std::string lines = read_bytes(folder / "metrics.jsonl");
  write_bytes(folder / "metrics.jsonl", lines + std::string(100, '\0') + "\n");
  EXPECT_EQ(read_epochs(folder.path(), 4).size(), 4u);
  EXPECT_EQ(read_epochs(folder.path(), 3).size(), 3u);
  EXPECT_THAT(error_of([&] { read_epochs(folder.path(), 5); }), HasSubstr("metrics.jsonl:5: is not"));
}

TEST(RunFolder, DamageIsSaidWithFileAndLine) {
  TemporaryFolder folder;
  write_run(folder.path(), sample_run());
  const std::string lines = read_bytes(folder / "metrics.jsonl");
  write_bytes(folder / "metrics.jsonl", lines + "{\"epoch\":5}\n");
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }),
              HasSubstr("metrics.jsonl:5: is not an epoch's record"));
  write_bytes(folder / "run.json", "{}");
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }),
              HasSubstr("run.json: is not the record of a run: key 'format' not found; restore"));
  write_bytes(folder / "run.json", "");  // as a lost power may leave it
  EXPECT_THAT(error_of([&] { read_run(folder.path()); }),
              HasSubstr("run.json: is not the record of a run: parse error at line 1, column 1"));
  EXPECT_THAT(error_of([&] { read_run(folder / "elsewhere"); }), HasSubstr("is not the output folder "
                                                                           "of a run"));
}

TEST(RunFolder, SizesThatDontFitAreRefused) {
  RunRecord run = sample_run();
  run.bytes_by_pair.pop_back();
  EXPECT_THAT(error_of([&] { parse_run_document(run_document(run)); }),
              HasSubstr("bytesByPair has 3 entries where 4"));
}

TEST(RunFolder, APlaceThatCannotBeWrittenIsSaid) {
  TemporaryFolder folder;
  const auto writer = make_run_folder_writer(folder.path());
  RunRecord start = sample_run(0);
  std::filesystem::create_directory(folder / "metrics.jsonl");
  EXPECT_THAT(error_of([&] { writer->on_start(start); }), HasSubstr("metrics.jsonl"));
}

}  // namespace
}  // namespace atl
