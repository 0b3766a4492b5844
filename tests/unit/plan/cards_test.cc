// GPUs that a plan knows by name.
#include "plan/job_plan.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace atl {
namespace {

TEST(Cards, AreKnownByName) {
  EXPECT_TRUE(card_of("h100").measured);
  EXPECT_FALSE(card_of("a100").measured) << "its data sheet's";
  EXPECT_GT(card_of("h200").bytes, card_of("h100").bytes);
}

TEST(Cards, ThatAreUnknownAreRefusedWithThoseThatArent) {
  EXPECT_THAT([] { card_of("v100"); },
              testing::ThrowsMessage<Error>("--gpu: 'v100' is unknown (use a100, h100 or h200)"));
}

}  // namespace
}  // namespace atl
