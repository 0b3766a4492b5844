// Which way sums are computed, as measured once: the rule, and the file that it is kept in.
#include "tensor/sum_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "train/temporary_folder.h"

namespace atl {
namespace {

const SumKind kOwnRows{"graph own", 10, 12, 50, 40, false, true};
const char* const kGpu = "NVIDIA H100 80GB HBM3";

SumKind of_columns(Index columns) {
  SumKind kind = kOwnRows;
  kind.columns = columns;
  return kind;
}

TEST(SumChoices, TakeTheLibraryWhereItIsAtLeastFivePercentFaster) {
  EXPECT_TRUE(choose(1, 0.5).takes_library);
  EXPECT_TRUE(choose(1, 0.95).takes_library);
  EXPECT_FALSE(choose(1, 0.96).takes_library) << "a near tie";
  EXPECT_FALSE(choose(1, 1).takes_library);
  EXPECT_FALSE(choose(1, 2).takes_library);
  EXPECT_EQ(choose(3, 2), (SumChoice{3, 2, true}));
}

TEST(SumChoices, AreKeptInAFilePerDeviceAndRank) {
  const TemporaryFolder folder;
  SumChoices first(folder.path(), 2);
  first.open(kGpu);
  EXPECT_EQ(first.find(kOwnRows), nullptr);
  ASSERT_NE(first.add(kOwnRows, choose(1, 0.5)), nullptr);
  ASSERT_NE(first.add(of_columns(64), choose(1, 2)), nullptr);
  EXPECT_EQ(first.file(), folder / "sums-nvidia-h100-80gb-hbm3-2.json");
  SumChoices again(folder.path(), 2);
  again.open(kGpu);
  EXPECT_EQ(again.all(), first.all());
  ASSERT_NE(again.find(kOwnRows), nullptr);
  EXPECT_TRUE(again.find(kOwnRows)->takes_library);
  EXPECT_FALSE(again.find(of_columns(64))->takes_library);
  SumChoices of_another_rank(folder.path(), 1), on_another_device(folder.path(), 2);
  of_another_rank.open(kGpu), on_another_device.open("NVIDIA A100");
  EXPECT_TRUE(of_another_rank.all().empty());
  EXPECT_TRUE(on_another_device.all().empty());
}

TEST(SumChoices, TellSumsApartByAllThatTheirTimeDependsOn) {
  SumChoices choices;
  choices.open(kGpu);
  const auto with = [](auto change) {
    SumKind kind = kOwnRows;
    change(kind);
    return kind;
  };
  choices.add(kOwnRows, choose(1, 0.5));
  for (const SumKind& other :
       {with([](SumKind& k) { k.arcs = "graph outer"; }), with([](SumKind& k) { ++k.rows; }),
        with([](SumKind& k) { ++k.cols; }), with([](SumKind& k) { ++k.count; }),
        with([](SumKind& k) { ++k.columns; }), with([](SumKind& k) { k.accumulated = true; }),
        with([](SumKind& k) { k.fused = false; })})
    EXPECT_EQ(choices.find(other), nullptr);
}

TEST(SumChoices, TakeWhatAnotherRunHasKeptFirst) {
  const TemporaryFolder folder;
  SumChoices one(folder.path(), 0), other(folder.path(), 0);
  one.open(kGpu), other.open(kGpu);
  one.add(kOwnRows, choose(1, 0.5));
  const SumChoice* kept = other.add(kOwnRows, choose(1, 2));
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->takes_library) << "both runs come to the same bits from here on";
  other.add(of_columns(8), choose(1, 2));
  SumChoices third(folder.path(), 0);
  third.open(kGpu);
  EXPECT_EQ(third.all().size(), 2U);
}

TEST(SumChoices, AreNotMadeWhereNoLaterRunWouldKnow) {
  const TemporaryFolder folder;
  SumChoices choices(folder / "gone", 0);
  choices.open(kGpu);
  EXPECT_EQ(choices.add(kOwnRows, choose(1, 0.5)), nullptr);
  EXPECT_FALSE(choices.can_keep());
  EXPECT_EQ(choices.find(kOwnRows), nullptr);
  EXPECT_FALSE(std::filesystem::exists(folder / "gone")) << "the prepared graph's folder isn't ours to make";
}

TEST(SumChoices, OfThisObjectAloneNeedNoFolder) {
  SumChoices choices;
  choices.open(kGpu);
  EXPECT_NE(choices.add(kOwnRows, choose(1, 0.5)), nullptr);
  EXPECT_TRUE(choices.file().empty());
}

TEST(SumChoices, ADamagedFileIsRefusedByName) {
  const TemporaryFolder folder;
  const auto open = [&](const std::string& text) {
    write_bytes(folder / "sums-gpu-0.json", text);
    SumChoices choices(folder.path(), 0);
    choices.open("gpu");
    return choices.all().size();
  };
  SumChoices good(folder.path(), 0);
  good.open("gpu");
  good.add(kOwnRows, choose(1, 0.5));
  const std::string text = read_bytes(good.file());
  EXPECT_EQ(open(text), 1U);
  std::string other_word = text;
  other_word.replace(other_word.find("\"library\""), 9, "\"perhaps\"");
  for (const std::string& damaged : {std::string("{"), text.substr(0, text.size() / 2), std::string("[]"),
                                     std::string(R"({"format": 1, "sums": [{}]})"), other_word})
    EXPECT_THAT([&] { open(damaged); },
                testing::ThrowsMessage<Error>(testing::AllOf(
                    testing::HasSubstr("sums-gpu-0.json: is damaged"), testing::HasSubstr("delete it"))))
        << damaged;
  EXPECT_EQ(open(R"({"format": 2, "others": []})"), 0U) << "another version's: measured again";
}

}  // namespace
}  // namespace atl
