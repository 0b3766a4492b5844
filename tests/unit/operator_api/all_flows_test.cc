// The traffic that a prepare pod tells of, beside that of pairs which it doesn't list.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "operator/api/messages.h"

namespace atl::ctl {
namespace {

double total(const std::vector<PairBytes>& flows) {
  double all = 0;
  for (const PairBytes& flow : flows) all += flow.bytes;
  return all;
}

/// A container may say anything: a line of a few words must not fill the operator's memory.
TEST(AllFlows, OfThousandsOfServersAreFewAndWeighAsMuch) {
  for (const int ranks : {3, 1000, 4096}) {
    std::vector<std::vector<Rank>> servers;
    for (Rank rank = 0; rank < ranks; ++rank) servers.push_back({rank});
    const auto prepared = read_prepared(R"({"ranks":)" + std::to_string(ranks) +
                                        R"(,"flows":[[0,1,100],[1,0,50]],"unlistedFlow":7})");
    ASSERT_TRUE(prepared);
    const auto flows = all_flows(*prepared, servers);
    EXPECT_LE(flows.size(), std::size_t(1024) * 1023 / 2);
    const double expected = 150 + 7 * (double(ranks) * (ranks - 1) / 2 - 1);
    EXPECT_NEAR(total(flows), expected, 1e-4 * expected);
  }
}

}  // namespace
}  // namespace atl::ctl
