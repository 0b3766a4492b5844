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

/// Pairs that stand for others and are listed themselves leave those others' bytes to the rest.
TEST(AllFlows, OfThousandsOfServersWeighAsMuchBesideManyThatAreListed) {
  constexpr int kRanks = 2048;
  Prepared prepared;
  prepared.ranks = kRanks;
  std::vector<std::vector<Rank>> servers;
  for (Rank rank = 0; rank < kRanks; ++rank) {
    servers.push_back({rank});
    prepared.flows.push_back({int(rank), int(rank + 1) % kRanks, 100});
  }
  prepared.unlisted_flow = 7;
  const double expected = 100.0 * kRanks + 7 * (double(kRanks) * (kRanks - 1) / 2 - kRanks);
  EXPECT_NEAR(total(all_flows(prepared, servers)), expected, 1e-9 * expected);
}

}  // namespace
}  // namespace atl::ctl
