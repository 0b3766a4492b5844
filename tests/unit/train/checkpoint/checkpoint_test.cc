#include "train/checkpoint/checkpoint.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "temporary_folder.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// The names of the visible and the hidden entries of a run's checkpoint folder, sorted.
std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

void flip_a_bit(const fs::path& path, std::size_t from_end) {
  std::string bytes = read_bytes(path);
  bytes[bytes.size() - from_end] = char(bytes[bytes.size() - from_end] ^ 0x10);
  write_bytes(path, bytes);
}

class Checkpoints : public testing::Test {
 protected:
  Checkpoints() : attempt_(claim_attempt(output_.path())), store_(output_.path(), attempt_, 2) {}

  CheckpointState state(Index epoch, Index steps = 0) {
    weights_ = {float(epoch), 2, 3};
    CheckpointState s;
    s.reached = {epoch, steps};
    s.step = epoch * 4;
    s.seed = std::numeric_limits<std::uint64_t>::max();
    s.ranks = 2;
    s.identity = {{"dataset", "abc"}, {"model", "gcn 2×16"}};
    s.scalars = {{"best", 0.1 + 0.2}, {"loss", std::nextafter(1.0, 2.0)}, {"none", -INFINITY}};
    s.tensors = {tensor_view("w", {3}, weights_.data())};
    return s;
  }
  fs::path folder() const { return output_ / "checkpoints"; }
  std::optional<LoadedCheckpoint> newest() {
    return store_.newest(warnings_, [this] { ++files_read_; });
  }
  /// Of both parts; the seals.
  std::vector<std::string> write_parts(Index epoch, std::span<const TensorView> tensors = {}) {
    std::vector<std::string> seals;
    for (int part : {0, 1}) seals.push_back(store_.write_part_state({epoch, 0}, part, tensors, "parts"));
    return seals;
  }
  Index newest_epoch() {
    warnings_.clear();
    files_read_ = 0;
    const auto found = newest();
    return found ? found->state.reached.epochs : 0;
  }

  TemporaryFolder output_;
  int attempt_;
  CheckpointStore store_;
  std::vector<float> weights_;
  std::vector<std::string> warnings_;
  int files_read_ = 0;
};

TEST_F(Checkpoints, NoneAtFirst) {
  EXPECT_FALSE(newest().has_value());
}

TEST_F(Checkpoints, GivesBackEveryBit) {
  const CheckpointState written = state(50);
  store_.commit(written, {});
  const auto read = newest();
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_EQ(read->folder, folder() / "epoch-000050");
  EXPECT_EQ(read->state.reached.epochs, 50);
  EXPECT_EQ(read->state.step, 200);
  EXPECT_EQ(read->state.seed, written.seed);
  EXPECT_EQ(read->state.ranks, 2);
  EXPECT_EQ(read->state.identity, written.identity);
  EXPECT_EQ(read->state.scalars, written.scalars);
  std::vector<float> w(3);
  read->file.copy_to("w", {3}, w.data());
  EXPECT_EQ(w, weights_);
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000050"));
}

TEST_F(Checkpoints, KeepsTheNewestOnes) {
  for (const Index epoch : {9, 10, 11, 100}) store_.commit(state(epoch), {});
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000011", "epoch-000100"));
  EXPECT_EQ(newest_epoch(), 100);
}

TEST_F(Checkpoints, StepsOfAnEpochComeAfterTheOneBeforeIt) {
  store_.commit(state(9), {});
  store_.commit(state(9, 4), {});
  store_.commit(state(9, 12), {});
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000009.step-000004", "epoch-000009.step-000012"));
  EXPECT_EQ(newest()->state.reached, (Reached{9, 12}));
  store_.commit(state(10), {});
  EXPECT_EQ(newest()->state.reached, (Reached{10, 0}));
}

TEST_F(Checkpoints, ATornOneIsSaidAndTheOneBeforeIsUsed) {
  store_.commit(state(1), {});
  store_.commit(state(2), {});
  fs::resize_file(folder() / "epoch-000002" / "state.safetensors", 100);
  EXPECT_EQ(newest_epoch(), 1);
  ASSERT_THAT(warnings_, SizeIs(1));
  EXPECT_THAT(warnings_[0], HasSubstr("the checkpoint of epoch 1 is used"));
  EXPECT_THAT(warnings_[0], HasSubstr("state.safetensors"));
}

TEST_F(Checkpoints, AFlippedBitInAnyFileIsFound) {
  for (const std::string name : {"state.safetensors", "part-1.safetensors", "COMPLETE"}) {
    fs::remove_all(folder());
    store_.commit(state(1), {});
    store_.commit(state(2), write_parts(2, std::vector{tensor_view("w", {3}, weights_.data())}));
    ASSERT_EQ(newest_epoch(), 2);
    EXPECT_EQ(files_read_, 3) << "others hear of each";
    flip_a_bit(folder() / "epoch-000002" / name, name == "COMPLETE" ? 20 : 1);
    EXPECT_EQ(newest_epoch(), 1) << name;
  }
}

TEST_F(Checkpoints, WithoutItsLastFileItIsNone) {
  store_.commit(state(1), {});
  store_.commit(state(2), {});
  EXPECT_TRUE(has_checkpoint(output_.path()));
  for (const char* name : {"epoch-000002", "epoch-000001"}) fs::remove(folder() / name / "COMPLETE");
  EXPECT_FALSE(has_checkpoint(output_.path()));
}

TEST_F(Checkpoints, AMissingPartsFileIsFound) {
  store_.commit(state(1), {});
  store_.commit(state(2), write_parts(2));
  fs::remove(folder() / "epoch-000002" / "part-0.safetensors");
  EXPECT_EQ(newest_epoch(), 1);
}

TEST_F(Checkpoints, WhereNoneIsWholeThatIsSaidWithEachDamage) {
  store_.commit(state(1), {});
  store_.commit(state(2), {});
  flip_a_bit(folder() / "epoch-000001" / "state.safetensors", 1);
  fs::remove(folder() / "epoch-000002" / "COMPLETE");
  const std::string message = error_of([&] { newest(); });
  EXPECT_THAT(message, HasSubstr("no checkpoint is whole"));
  EXPECT_THAT(message, HasSubstr("epoch-000002/COMPLETE: does not exist"));
  EXPECT_THAT(message, HasSubstr("epoch-000001/state.safetensors"));
  EXPECT_THAT(message, HasSubstr("--fresh"));
}

TEST_F(Checkpoints, EachRankReadsItsOwnPart) {
  const std::vector<float> stale[2] = {{1, 2}, {3, 4}};
  std::vector<std::string> seals;
  for (int part : {0, 1})
    seals.push_back(store_.write_part_state(
        {1, 0}, part, std::vector{tensor_view("halo", {2}, stale[part].data())}, "parts"));
  store_.commit(state(1), seals);
  const auto own = store_.read_part_state({1, 0}, 1);
  ASSERT_TRUE(own.has_value());
  std::vector<float> read(2);
  own->copy_to("halo", {2}, read.data());
  EXPECT_EQ(read, stale[1]);
  EXPECT_FALSE(store_.read_part_state({1, 0}, 2).has_value());
}

TEST_F(Checkpoints, ACommitThatFailsLeavesNothing) {
  store_.commit(state(1), {});
  const auto seals = write_parts(2);
  const std::string name = ".epoch-000002.attempt-" + std::to_string(attempt_);
  fs::create_directories(folder() / name / "state.safetensors" / "in the way");
  EXPECT_THAT(error_of([&] { store_.commit(state(2), seals); }), HasSubstr("state.safetensors"));
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000001"));
}

TEST_F(Checkpoints, WhatAKilledAttemptLeftIsRemovedAndNeverRead) {
  store_.commit(state(1), {});
  store_.write_part_state({2, 0}, 0, {}, "parts");
  EXPECT_EQ(newest_epoch(), 1);
  EXPECT_THAT(warnings_, IsEmpty());
  CheckpointStore(output_.path(), claim_attempt(output_.path()), 2).remove_partial();
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000001"));
}

TEST_F(Checkpoints, ADamagedOneIsReplacedByTheRunThatPassedItOver) {
  store_.commit(state(1), {});
  store_.commit(state(2), {});
  store_.commit(state(3), {});
  flip_a_bit(folder() / "epoch-000003" / "state.safetensors", 1);
  ASSERT_EQ(newest_epoch(), 2);
  store_.commit(state(3), {});
  EXPECT_EQ(newest_epoch(), 3);
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000002", "epoch-000003"));
}

TEST_F(Checkpoints, DamagedOnesDontCountAsKept) {
  store_.commit(state(1), {});
  store_.commit(state(2), {});
  fs::remove(folder() / "epoch-000002" / "COMPLETE");
  store_.commit(state(3), {});
  EXPECT_THAT(names_in(folder()), ElementsAre("epoch-000001", "epoch-000003"));
}

TEST_F(Checkpoints, ASupersededAttemptMayNotCommit) {
  store_.commit(state(1), {});
  const int next = claim_attempt(output_.path());
  EXPECT_EQ(next, attempt_ + 1);
  EXPECT_THAT(error_of([&] { store_.commit(state(2), {}); }), HasSubstr("superseded by attempt 2"));
  EXPECT_EQ(newest_epoch(), 1);
  EXPECT_THAT(error_of([&] { claim_attempt(output_.path(), attempt_); }), HasSubstr("superseded"));
  EXPECT_EQ(claim_attempt(output_.path(), 7), 7);
  EXPECT_EQ(claim_attempt(output_.path(), 7), 7);
}

TEST_F(Checkpoints, AFolderThatWasRemovedUnderTheRunIsNotMadeAgain) {
  fs::remove_all(output_.path());
  EXPECT_THAT(error_of([&] { store_.commit(state(1), {}); }), HasSubstr("attempt: is gone"));
  EXPECT_FALSE(fs::exists(output_.path()));
}

TEST_F(Checkpoints, AJobThatTakesOverAFolderGoesOnCounting) {
  const auto& folder = output_.path();
  EXPECT_EQ(claim_attempt(folder, 1, "old"), attempt_ + 1);
  EXPECT_EQ(claim_attempt(folder, 2, "old"), attempt_ + 2);
  EXPECT_EQ(claim_attempt(folder, 1, "new"), attempt_ + 3);
  EXPECT_EQ(claim_attempt(folder, attempt_ + 3), attempt_ + 3) << "by the folder's number";
  EXPECT_EQ(claim_attempt(folder, 1, "new"), attempt_ + 3) << "the same attempt";
  EXPECT_EQ(claim_attempt(folder, 3, "new"), attempt_ + 5);
  EXPECT_THAT(error_of([&] { claim_attempt(folder, 2, "new"); }), HasSubstr("superseded"));
  EXPECT_THAT(error_of([&] { check_attempt(folder, attempt_ + 2); }), HasSubstr("superseded"))
      << "of the old one";
  EXPECT_EQ(claim_attempt(folder), attempt_ + 6);
}

TEST_F(Checkpoints, RanksOfDifferentAttemptsDontMix) {
  const std::vector<float> old_value{1}, new_value{2};
  const auto seals = write_parts(1, std::vector{tensor_view("x", {1}, new_value.data())});
  CheckpointStore late(output_.path(), attempt_ + 1, 2);
  late.write_part_state({1, 0}, 1, std::vector{tensor_view("x", {1}, old_value.data())}, "parts");
  store_.commit(state(1), seals);
  float x = 0;
  store_.read_part_state({1, 0}, 1)->copy_to("x", {1}, &x);
  EXPECT_EQ(x, 2);
}

TEST_F(Checkpoints, AnotherRunsCheckpointIsRefusedNamingEveryDifference) {
  store_.commit(state(1), {});
  const auto read = newest();
  check_identity(*read, {{"dataset", "abc"}, {"model", "gcn 2×16"}});
  const std::string message = error_of([&] {
    check_identity(*read, {{"dataset", "xyz"}, {"model", "gcn 2×16"}, {"strategy", "graph"}});
  });
  EXPECT_THAT(message, HasSubstr("it was trained on other data (checksum abc…, now xyz…)"));
  EXPECT_THAT(message, HasSubstr("use that run's manifest and data"));
  EXPECT_THAT(message, HasSubstr("strategy was not stated, is now graph"));
  EXPECT_THAT(message, Not(HasSubstr("model")));
}

/// Which has no folder.
TEST_F(Checkpoints, AnotherRunsCheckpointIsNamedOnRanksThatGotItFromRank0) {
  store_.commit(state(1), {});
  const auto read = newest();
  const std::span<const std::byte> bytes = read->file.bytes();
  const LoadedCheckpoint received = checkpoint_state_of(
      SafetensorsFile::parse(std::vector<std::byte>(bytes.begin(), bytes.end()), "rank 0's checkpoint"));
  EXPECT_THAT(error_of([&] {
                check_identity(received, {{"dataset", "xyz"}});
              }),
              testing::StartsWith("rank 0's checkpoint: belongs to another run: "));
}

TEST_F(Checkpoints, ADamagedAttemptNumberIsSaid) {
  write_bytes(output_ / "attempt", "x");
  EXPECT_THAT(error_of([&] { store_.commit(state(1), {}); }), HasSubstr("newest attempt"));
}

}  // namespace
}  // namespace atl
