// What is left out of a cluster without changing the answer.
#include "operator/plan/symmetry.h"

#include <gtest/gtest.h>

#include "operator_plan/clusters.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

TEST(Symmetry, TheRoomiestNodesAreAsGoodAsAll) {
  std::mt19937 random(3);
  for (int c = 0; c < 60; ++c) {
    const int servers = 3 + c % 3;
    auto sites = fragmented(even_cluster(1, 2, 5, 3), 0.5, servers, random);
    for (Site& site : sites) site.takes_first = std::bernoulli_distribution(0.4)(random);
    std::ranges::find_if(sites, [](const Site& s) { return s.slots > 0; })->takes_first = true;
    const Topology topology(sites, kWeights);
    const Traffic traffic(servers, planar_cut(servers, random));
    EXPECT_EQ(exhaustive(roomiest_nodes(topology, servers), traffic), exhaustive(topology, traffic))
        << "case " << c;
  }
}

TEST(Symmetry, RoomyRacksBecomeTwins) {
  std::mt19937 random(4);
  const Topology topology(fragmented(even_cluster(2, 10, 40, 4), 0.3, 8, random), kWeights);
  EXPECT_LE(without_twins(roomiest_nodes(topology, 4), 4).sites().size(), 40u)
      << "hardly more than four nodes of four racks of each zone";
}

}  // namespace
}  // namespace atl::ctl
