// A lower bound on the cost of any placement.
#include "operator/plan/less_search.h"

#include <gtest/gtest.h>

#include "operator_plan/clusters.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

TEST(Floor, IsNeverAboveTheBest) {
  std::mt19937 random(11);
  // Weights are the user's: a byte between zones may cost less than one between racks.
  const std::vector<double> all_weights[] = {kWeights, {1, 10, 100}, {10, 100, 1}};
  for (int c = 0; c < 90; ++c) {
    const int servers = 5 + c % 3;
    const Topology topology(fragmented(even_cluster(2, 2, 2, 3), 0.4, servers, random), all_weights[c % 3]);
    const Traffic traffic(servers, c % 2 ? planar_cut(servers, random) : blocks(servers, 3, random));
    EXPECT_LE(Floor(traffic).of(topology, 0), exhaustive(topology, traffic) * (1 + 1e-9)) << "case " << c;
  }
}

TEST(Floor, IsTheBestWhereAllTalkAlikeAndFillNodes) {
  const Topology topology(even_cluster(2, 2, 3, 4), kWeights);
  const Traffic traffic = Traffic::uniform(8, 5);
  EXPECT_EQ(Floor(traffic).of(topology, 0), 4 * 4 * 10 * 1)
      << "ten both ways; four on each of two nodes of a rack";
  const auto answer = place(topology, traffic);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->cost, 160);
}

TEST(Floor, IsNothingWhereOneNodeHoldsAll) {
  const Topology topology(even_cluster(1, 1, 2, 8), kWeights);
  const Traffic traffic = Traffic::uniform(8, 5);
  EXPECT_EQ(Floor(traffic).of(topology, 0), 0);
}

}  // namespace
}  // namespace atl::ctl
