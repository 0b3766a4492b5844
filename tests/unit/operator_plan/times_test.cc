// Processor time of plans: a place in the present room and one on empty nodes, as the operator asks for each
// gang. PLACEMENT_TIMES=docs/benchmarks/operator-plan.json measures and stores it; else nothing is measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>

#include "base/json.h"
#include "operator_plan/cases.h"

namespace atl::ctl {
namespace {

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * double(now.tv_sec) + 1e-6 * double(now.tv_nsec);
}

double rounded(double ms) {
  return std::round(100 * ms) / 100;
}

nlohmann::json measured(const std::vector<Case>& cases, double goal) {
  std::vector<double> plans;
  double topologies = 0;
  for (const Case& c : cases) {
    const double begin = processor_ms();
    const Topology again(c.topology.sites(), c.topology.weights());
    const Topology empty(c.empty.sites(), c.empty.weights());
    const double built = processor_ms();
    EXPECT_TRUE(place(again, c.traffic, c.within));
    EXPECT_TRUE(place(empty, c.traffic, c.within));
    plans.push_back(processor_ms() - built);
    topologies += built - begin;
  }
  std::ranges::sort(plans);
  const auto quantile = [&](double q) { return rounded(plans[std::size_t(q * double(plans.size() - 1))]); };
  return {{"plans", plans.size()},         {"goal", goal},
          {"p50", quantile(0.5)},          {"p99", quantile(0.99)},
          {"most", rounded(plans.back())}, {"topologies", rounded(topologies / double(cases.size()))}};
}

std::vector<Case> only_dense(std::vector<Case> cases) {
  std::erase_if(cases, [](const Case& c) { return c.name.find("dense") == std::string::npos; });
  return cases;
}

TEST(Times, OfPlans) {
  const char* store = std::getenv("PLACEMENT_TIMES");
  if (!store) GTEST_SKIP() << "PLACEMENT_TIMES=FILE measures";
  nlohmann::ordered_json rows;
  rows["8 within a rack, 63 empty racks, 1 slot"] = measured(small_cases({.slots = 1, .within = 1}, 34), 10);
  rows["8 within a rack, 63 empty racks, 4 slots"] = measured(small_cases({.slots = 4, .within = 1}, 34), 10);
  rows["8 within a rack, 63 racks, 1 slot, 70 % taken"] =
      measured(small_cases({.slots = 1, .taken = 0.7, .within = 1}, 34), 10);
  rows["8 within a rack, 63 racks, 4 slots, 70 % taken"] =
      measured(small_cases({.slots = 4, .taken = 0.7, .within = 1}, 34), 10);
  rows["8 among 5,040 nodes, 1 slot, 90 % taken"] =
      measured(small_cases({.zones = 15, .slots = 1, .taken = 0.9}, 34), 30);
  rows["8 among 5,040 nodes, 4 slots, 70 % taken"] =
      measured(small_cases({.zones = 15, .slots = 4, .taken = 0.7}, 34), 30);
  rows["256 that all talk, 1,000 nodes"] = measured(only_dense(large_cases(256)), 50);
  rows["512 that all talk, 1,000 nodes"] = measured(only_dense(large_cases(512)), 200);
  std::ofstream(store) << rows.dump(1) << '\n';
  std::printf("%s\n", rows.dump(1).c_str());
}

}  // namespace
}  // namespace atl::ctl
