
#include <gmock/gmock.h>

#include "temporary_folder.h"
#include "train/checkpoint/checkpoint.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// A folder with a run of one checkpoint.
class StartOver : public testing::Test {
 protected:
  StartOver() {
    claim_attempt(output());
    commit(5);
    for (const char* name : {"job.yaml", "metrics.jsonl", "run.json"}) write_bytes(folder_ / name, "old");
  }
  const fs::path& output() const { return folder_.path(); }
  void commit(Index epoch) {
    const std::vector<float> weights{1};
    CheckpointState state;
    state.reached.epochs = epoch;
    state.tensors = {tensor_view("w", {1}, weights.data())};
    CheckpointStore(output(), claim_attempt(output()), 2).commit(state, {});
  }
  void begin_anew() {
    set_aside(output());
    for (const char* name : {"job.yaml", "metrics.jsonl"}) write_bytes(folder_ / name, "new");
  }
  void expect_old() {
    EXPECT_TRUE(fs::exists(folder_ / "checkpoints/epoch-000005/COMPLETE"));
    for (const char* name : {"job.yaml", "metrics.jsonl", "run.json"})
      EXPECT_EQ(read_bytes(folder_ / name), "old") << name;
    EXPECT_FALSE(fs::exists(folder_ / "replaced"));
  }

  TemporaryFolder folder_;
};

TEST_F(StartOver, WithoutACheckpointTheRunBeforeComesBack) {
  begin_anew();
  EXPECT_FALSE(has_checkpoint(output()));
  fs::create_directories(folder_ / "checkpoints/.epoch-000001.attempt-2");  // half-written
  EXPECT_TRUE(bring_back(output()));
  expect_old();
  EXPECT_FALSE(bring_back(output()));
  expect_old();
}

TEST_F(StartOver, OnlyFilesOfARunAreReplaced) {
  EXPECT_EQ(file_of_no_run(output()), "");
  for (const char* sign : {"attempt", "run.json", "checkpoints"}) fs::remove_all(folder_ / sign);
  EXPECT_EQ(file_of_no_run(output()), "job.yaml");
  fs::remove(folder_ / "job.yaml");
  EXPECT_EQ(file_of_no_run(output()), "");
  write_bytes(folder_ / "model.safetensors", "of another program");
  EXPECT_EQ(file_of_no_run(output()), "model.safetensors");
  claim_attempt(output());
  EXPECT_EQ(file_of_no_run(output()), "") << "a run has begun there";
}

TEST_F(StartOver, WithOneItIsGone) {
  begin_anew();
  commit(1);
  EXPECT_FALSE(bring_back(output()));
  EXPECT_EQ(read_bytes(folder_ / "job.yaml"), "new");
  EXPECT_FALSE(fs::exists(folder_ / "replaced"));
  EXPECT_FALSE(fs::exists(folder_ / "checkpoints/epoch-000005"));
}

/// Nobody could tell a model of the run before from the new run's.
TEST_F(StartOver, TheFirstCheckpointEndsTheResultsOfTheRunBefore) {
  for (const char* name : {"model.safetensors", "result.json", "predictions.npy"})
    write_bytes(folder_ / name, "old");
  begin_anew();
  EXPECT_TRUE(bring_back(output()));
  EXPECT_EQ(read_bytes(folder_ / "model.safetensors"), "old") << "without a checkpoint all comes back";
  begin_anew();
  commit(1);
  drop_run_before(output());
  for (const char* name : {"model.safetensors", "result.json", "predictions.npy", "replaced"})
    EXPECT_FALSE(fs::exists(folder_ / name)) << name;
  EXPECT_TRUE(has_checkpoint(output()));
}

TEST_F(StartOver, AKillBehindTheFirstCheckpointLeavesNoResultsOfTheRunBefore) {
  write_bytes(folder_ / "model.safetensors", "old");
  begin_anew();
  commit(1);  // and here the run was killed
  EXPECT_FALSE(bring_back(output()));
  EXPECT_FALSE(fs::exists(folder_ / "model.safetensors"));
  write_bytes(folder_ / "model.safetensors", "new");
  EXPECT_FALSE(bring_back(output()));
  EXPECT_EQ(read_bytes(folder_ / "model.safetensors"), "new");
}

TEST_F(StartOver, AKillOnTheWayIsMended) {
  fs::create_directory(folder_ / "replaced");  // set_aside() was killed before it moved the checkpoints
  write_bytes(folder_ / "replaced/job.yaml", "torn");
  EXPECT_FALSE(bring_back(output()));
  expect_old();
  begin_anew();
  fs::rename(folder_ / "replaced/job.yaml",
             folder_ / "job.yaml");  // bring_back() was killed before it was done
  EXPECT_TRUE(bring_back(output()));
  expect_old();
}

TEST_F(StartOver, ARankThatStillLivesCannotCommitIntoWhatCameBack) {
  const int attempt = claim_attempt(output());
  begin_anew();
  bring_back(output());
  EXPECT_THAT(error_of([&] { check_attempt(output(), attempt); }), testing::HasSubstr("superseded"));
}

}  // namespace
}  // namespace atl
