// The link rate at which communication takes a share of an epoch.
#include "bench/strategy_bench.h"

#include <gmock/gmock.h>

#include "base/error.h"

namespace atl {
namespace {

/// 0.2 s of compute, and 4 Mbit to send after 30 ms that no link saves.
SharedEpoch epoch_at(double rate) {
  return {rate, 0.2, 0.03 + 4e6 / rate};
}

TEST(CommShare, TwoMeasurementsGiveTheRate) {
  for (const double share : {0.5, 0.65, 0.8}) {
    const SharedEpoch measured[] = {epoch_at(1e9), epoch_at(2e7)};
    EXPECT_NEAR(epoch_at(rate_for_share(share, measured)).share(), share, 1e-9);
  }
}

TEST(CommShare, OneMeasurementGivesAFirstGuess) {
  const SharedEpoch measured[] = {{1e9, 0.2, 0.1}};
  EXPECT_NEAR(rate_for_share(0.5, measured), 5e8, 1);
}

TEST(CommShare, MeasurementsInWhichTheLinkWasNotTheLimitAreTakenAsOne) {
  const SharedEpoch measured[] = {{1e9, 0.2, 0.1}, {5e8, 0.2, 0.09}};
  EXPECT_NEAR(rate_for_share(0.5, measured), 5e8 * 0.09 / 0.2, 1);
}

TEST(CommShare, AShareThatEvenFastLinksExceedIsRefused) {
  const SharedEpoch measured[] = {epoch_at(1e9), epoch_at(2e7)};
  try {
    rate_for_share(0.1, measured);
    FAIL() << "was given a rate";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("0.1 is too small"));
    EXPECT_THAT(error.what(), testing::HasSubstr("use more than 0.13"));
  }
  const SharedEpoch silent[] = {{1e9, 0.2, 0}};
  EXPECT_THROW(rate_for_share(0.5, silent), Error);
}

}  // namespace
}  // namespace atl
