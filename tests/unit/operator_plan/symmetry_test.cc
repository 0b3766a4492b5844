// Nodes that are left out of a cluster without changing the answer.
#include "operator/plan/less_search.h"

#include <gtest/gtest.h>

#include <map>

#include "operator_plan/clusters.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

TEST(Symmetry, WithoutTwinsTheBestCostsTheSame) {
  std::mt19937 random(3);
  std::size_t left_out = 0;
  for (int c = 0; c < 120; ++c) {
    const int servers = 2 + c % 3;
    auto sites = fragmented(even_cluster(1, 2, 6, 2), 0.4, servers, random);
    for (Site& site : sites) site.takes_first = std::bernoulli_distribution(0.4)(random);
    std::ranges::find_if(sites, [](const Site& s) { return s.slots > 0; })->takes_first = true;
    const Topology topology(sites, kWeights), reduced = Twins(topology, servers).without_twins(0);
    const Traffic traffic(servers, planar_cut(servers, random));
    EXPECT_EQ(exhaustive(reduced, traffic), exhaustive(topology, traffic)) << "case " << c;
    left_out += topology.sites().size() - reduced.sites().size();
  }
  EXPECT_GT(left_out, 0u) << "or nothing was tried";
}

TEST(Symmetry, DomainsOfDifferentLevelsAreNoTwins) {
  std::mt19937 random(4);
  for (int c = 0; c < 50; ++c) {
    const Topology topology(fragmented(even_cluster(3, 4, 4, 2), 0.5, 3, random), kWeights);
    const Twins twins(topology, 3);
    std::map<int, int> level_of;  // by shape
    for (std::size_t d = 0; d < topology.domains().size(); ++d) {
      const int level = topology.domains()[d].level;
      EXPECT_EQ(level_of.emplace(twins.shape_of(int(d)), level).first->second, level) << "case " << c;
    }
  }
}

TEST(Symmetry, AClusterOfEqualNodesBecomesAsSmallAsTheJob) {
  const Topology topology(even_cluster(10, 10, 10, 4), kWeights);
  EXPECT_EQ(Twins(topology, 3).without_twins(0).sites().size(), 27u)
      << "three nodes of three racks of three zones";
}

}  // namespace
}  // namespace atl::ctl
