// GPUs that a plan knows by name.
#include "plan/job_plan.h"

#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Cards, AreKnownByName) {
  EXPECT_TRUE(card_of("h100").measured);
  EXPECT_FALSE(card_of("a100").measured) << "its data sheet's";
  EXPECT_GT(card_of("h200").bytes, card_of("h100").bytes);
}

TEST(Cards, ThatAreUnknownAreRefusedWithThoseThatArent) {
  EXPECT_THAT([] { card_of("v100"); },
              testing::ThrowsMessage<Error>("--gpu: 'v100' is unknown (use a100, h100 or h200)"));
}

/// What a plan for H100s says of a rank with these items.
std::string said(std::vector<MemoryItem> items, bool batches) {
  JobPlan plan;
  plan.card = &card_of("h100");
  plan.rates = plan.card->rates;
  plan.ranks.emplace_back().memory.items = std::move(items);
  RankPlan& rank = plan.ranks.front();
  rank.shape.batches = batches;
  for (const MemoryItem& item : rank.memory.items) rank.memory.training += item.bytes;
  return to_text(plan, small_job({}));
}

constexpr Index kGib = Index(1) << 30;

/// Pairs, and parts that are read ahead, lie in the host's memory: with them a job that fits didn't.
TEST(Cards, HoldWhatRanksHaveThere) {
  const std::string fits = said({{"features", 50 * kGib}, {"pairs", 60 * kGib, true}}, false);
  EXPECT_THAT(fits, HasSubstr("rank 0 trains in 50.0 GiB of its card's 79.0 GiB\n"));
  EXPECT_THAT(said({{"features", 90 * kGib}}, false),
              HasSubstr("rank 0 trains in 90.0 GiB of its card's 79.0 GiB: it doesn't fit"));
}

/// Features of mini-batches stay with the host where they are too many for the card.
TEST(Cards, OfMiniBatchesNeedntHoldTheFeatures) {
  const std::string many = said({{"features", 200 * kGib}, {"activations", kGib}}, true);
  EXPECT_THAT(many, HasSubstr("rank 0 trains in 201 GiB, of which the host holds features"));
  EXPECT_THAT(many, Not(HasSubstr("doesn't fit")));
  EXPECT_THAT(said({{"features", 20 * kGib}}, true),
              HasSubstr("trains in 20.0 GiB of its card's 79.0 GiB\n"));
}

}  // namespace
}  // namespace atl
