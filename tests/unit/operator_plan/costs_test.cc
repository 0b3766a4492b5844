// The costs of large placements beside those of the search before looks were counted, which took up to ten
// seconds. tests/data/placement_costs.json has its costs; with PLACEMENT_COSTS=FILE the present search's are
// stored there instead.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/json.h"
#include "operator_plan/cases.h"
#include "where.h"

namespace atl::ctl {
namespace {

TEST(Costs, AreStored) {
  const char* store = std::getenv("PLACEMENT_COSTS");
  if (!store) GTEST_SKIP() << "PLACEMENT_COSTS=FILE stores them";
  nlohmann::ordered_json cases;
  for (const int servers : {64, 256, 512})
    for (const Case& c : large_cases(servers)) cases[c.name]["cost"] = place(c.topology, c.traffic)->cost;
  std::ofstream(store) << nlohmann::ordered_json{{"cases", cases}}.dump(1) << '\n';
}

TEST(Costs, AreNoMoreThanTwoPercentAboveTheLongSearch) {
  std::ifstream file(source_folder() / "tests/data/placement_costs.json");
  const auto stored = parse_json(file).at("cases");
  std::size_t compared = 0, close = 0;
  double sum = 0;
  for (const int servers : {64, 256, 512}) {
    for (const Case& c : large_cases(servers)) {
      const auto answer = place(c.topology, c.traffic);
      ASSERT_TRUE(answer) << c.name;
      EXPECT_NEAR(answer->cost, cost_of(c.topology, c.traffic, answer->nodes), 1e-9 * answer->cost);
      const double ratio = answer->cost / stored.at(c.name).at("cost").get<double>();
      EXPECT_LE(ratio, 1.065) << c.name;
      std::printf("%s: %+.2f %% of the stored cost\n", c.name.c_str(), 100 * (ratio - 1));
      close += ratio <= 1.02;
      sum += ratio;
      ++compared;
    }
  }
  EXPECT_EQ(compared, stored.size());
  EXPECT_GE(close, compared - 1)
      << "64 servers, sparse, one slot a node: the long search found a better answer";
  EXPECT_LE(sum, double(compared)) << "no more in the mean";
}

}  // namespace
}  // namespace atl::ctl
