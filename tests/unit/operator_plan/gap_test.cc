// The search's distance from the best answer, which an independent exhaustive search finds: the histogram is
// in docs/benchmarks/placement.md (PLACEMENT_CASES=1000 prints it).
#include <gtest/gtest.h>

#include <cstdlib>

#include "operator_plan/clusters.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

TEST(Gap, TheSearchIsWithinFivePercentInNinetyNineOfAHundred) {
  const char* wanted = std::getenv("PLACEMENT_CASES");
  const int cases = wanted ? std::atoi(wanted) : 150;
  std::mt19937 random(7);
  int close = 0, linear_worse = 0, bins[6] = {};
  const double limits[6] = {0, 0.01, 0.02, 0.05, 0.1, 1e9};
  for (int c = 0; c < cases; ++c) {
    const int servers = 6 + int(random() % 4);
    const Topology topology(fragmented(even_cluster(2, 2, 3, 2), 0.35, servers + 1, random), kWeights);
    const Traffic traffic(servers, c % 2 ? planar_cut(servers, random) : blocks(servers, 2 + c % 3, random));
    const auto answer = place(topology, traffic);
    ASSERT_TRUE(answer);
    const double best = exhaustive(topology, traffic);
    const double gap = best > 0 ? answer->cost / best - 1 : answer->cost > 0;
    close += gap <= 0.05;
    linear_worse += answer->in_order_cost > 1.3 * best;
    ++bins[std::find_if(limits, limits + 5, [&](double limit) { return gap <= limit + 1e-9; }) - limits];
  }
  EXPECT_GE(close, 0.99 * cases);
  EXPECT_GE(linear_worse, 0.5 * cases);
  std::printf(
      "%d cases, gap 0: %d, ≤1 %%: %d, ≤2 %%: %d, ≤5 %%: %d, ≤10 %%: %d, more: %d; linear order ≥30 %% worse: %d\n",
      cases, bins[0], bins[1], bins[2], bins[3], bins[4], bins[5], linear_worse);
}

}  // namespace
}  // namespace atl::ctl
