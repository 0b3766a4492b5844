// How much a search does, in looks, which are the same on every machine (operator/plan/assignment.h). The
// milliseconds are in docs/benchmarks/placement.md.
#include <gtest/gtest.h>

#include "operator_plan/cases.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

std::int64_t most_looks(const std::vector<Case>& cases) {
  std::int64_t most = 0;
  for (const Case& c : cases) {
    const auto answer = place(c.topology, c.traffic, c.within);
    EXPECT_TRUE(answer) << c.name;
    if (answer) most = std::max(most, answer->looks);
  }
  return most;
}

TEST(Effort, OfEightServersIsBounded) {
  constexpr std::int64_t kMost = 650'000;
  EXPECT_LE(most_looks(small_cases({.slots = 4, .within = 1}, 2)), kMost);
  EXPECT_LE(most_looks(small_cases({.slots = 1, .taken = 0.7, .within = 1}, 3)), kMost);
  EXPECT_LE(most_looks(small_cases({.slots = 4, .taken = 0.7, .within = 1}, 3)), kMost);
  EXPECT_LE(most_looks(small_cases({.zones = 15, .slots = 1, .taken = 0.9}, 3)), kMost);
  EXPECT_LE(most_looks(small_cases({.zones = 15, .slots = 4, .taken = 0.7}, 3)), kMost);
}

TEST(Effort, OfHundredsOfServersThatAllTalkIsBounded) {
  EXPECT_LE(most_looks(large_cases(64)), 3'000'000);
  EXPECT_LE(most_looks(large_cases(256)), 12'000'000);
  EXPECT_LE(most_looks(large_cases(512)), 30'000'000);
}

TEST(Effort, EndsWithAFirstAnswerThatCostsNoMoreThanTheFloor) {
  const auto answer = place(Topology(even_cluster(3, 21, 16, 1), kWeights), Traffic::uniform(8, 5), 1);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->cost, 8 * 7 * 5) << "bytes both ways between nodes of a rack";
  EXPECT_LE(answer->looks, 3'000);
}

TEST(Effort, EqualRacksAreSearchedOnce) {
  std::mt19937 random(5);
  const Traffic traffic(8, planar_cut(8, random));
  for (const int within : {1, -1}) {
    const auto few = place(Topology(even_cluster(1, 8, 16, 3), kWeights), traffic, within);
    const auto many = place(Topology(even_cluster(1, 63, 16, 3), kWeights), traffic, within);
    ASSERT_TRUE(few && many);
    EXPECT_GT(few->looks, 10'000) << "or the search ended at once";
    EXPECT_EQ(many->looks, few->looks);
    EXPECT_EQ(many->cost, few->cost);
  }
}

/// The tightest of racks of one cost, though another one looks the same to the job.
TEST(Effort, OfEqualRacksTheTightestIsTaken) {
  auto sites = even_cluster(1, 3, 4, 2);
  sites[0].slots = sites[1].slots = sites[2].slots = sites[3].slots = 9;  // seven more than the job needs
  std::mt19937 random(6);
  const auto answer = place(Topology(sites, kWeights), Traffic(2, planar_cut(2, random)), 1);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->nodes, (std::vector<std::string>{"n04", "n04"}));
}

TEST(Effort, TheSameQuestionHasTheSameAnswer) {
  for (const Case& c : small_cases({.slots = 4, .taken = 0.7}, 2)) {
    const auto once = place(c.topology, c.traffic), again = place(c.topology, c.traffic);
    ASSERT_TRUE(once && again);
    EXPECT_EQ(once->nodes, again->nodes) << c.name;
    EXPECT_EQ(once->looks, again->looks) << c.name;
  }
}

}  // namespace
}  // namespace atl::ctl
