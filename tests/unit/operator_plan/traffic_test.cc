// Traffic of servers that all talk to each other.
#include "operator/plan/traffic.h"

#include <gtest/gtest.h>

#include <cstddef>

namespace atl::ctl {
namespace {

TEST(AllToAll, OfThousandsOfServersTakesNoMoreThanOfAThousand) {
  for (const int servers : {1, 2, 7, 1024, 1025, 2048, 4096}) {
    const Traffic traffic = Traffic::uniform(servers, 3);
    std::size_t pairs = 0;
    for (int server = 0; server < servers; ++server) {
      pairs += traffic.peers(server).size();
      double bytes = 0;
      for (const auto& [peer, amount] : traffic.peers(server)) {
        EXPECT_NE(peer, server);
        bytes += amount;
      }
      ASSERT_NEAR(bytes, 6.0 * (servers - 1), 1e-6 * servers) << "to and from all others, of " << servers;
    }
    EXPECT_LE(pairs, std::size_t(1024) * 1023);
  }
}

}  // namespace
}  // namespace atl::ctl
