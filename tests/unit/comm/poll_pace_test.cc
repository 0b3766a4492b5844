// How long the communicating thread sleeps: hardly at all while somebody waits; for bulk alone, according to
// the rate of the link.
#include "comm/progress.h"

#include <gtest/gtest.h>

namespace atl {
namespace {

using namespace std::chrono_literals;
constexpr bool kStands = true, kWorks = false;

TEST(PollPace, FollowsWhoeverStandsWaiting) {
  const PollPace pace;
  EXPECT_EQ(pace.nap(0us, kStands), 0us);
  EXPECT_EQ(pace.nap(39us, kStands), 0us);
  EXPECT_EQ(pace.nap(41us, kStands), 5us);
  EXPECT_EQ(pace.nap(800us, kStands), 50us);
  EXPECT_EQ(pace.nap(1s, kStands), 100us);
  EXPECT_EQ(pace.nap(0us, kWorks), 5us);
}

TEST(PollPace, BesideBulkItSleepsWhileTheLinkIsBusyWithWhatItHas) {
  PollPace pace;
  EXPECT_EQ(pace.nap(1s, kWorks), 100us) << "nothing is known of the link yet";
  for (int i = 0; i < 20; ++i) pace.learn(8 << 20, 32ms);  // 2 Gbit/s: 128 KiB take 500 µs
  EXPECT_NEAR(double(pace.nap(1s, kWorks).count()), 500e3, 1e3);
  EXPECT_EQ(pace.nap(160us, kWorks), 40us);
  pace.learn(1000, 1s);  // says nothing of the rate
  EXPECT_NEAR(double(pace.nap(1s, kWorks).count()), 500e3, 1e3);
  for (int i = 0; i < 20; ++i) pace.learn(8 << 20, 8s);
  EXPECT_EQ(pace.nap(1s, kWorks), 2ms) << "whoever begins to wait must not wait for this";
  for (int i = 0; i < 20; ++i) pace.learn(8 << 20, 1ms);
  EXPECT_EQ(pace.nap(1s, kWorks), 100us);
}

}  // namespace
}  // namespace atl
