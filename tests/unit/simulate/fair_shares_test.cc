// Fair shares of flows that come and go equal those computed afresh: each flow uses a resource that is used
// up, and on which no flow is faster.
#include "simulate/fair_shares.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace atl {
namespace {

constexpr int kResources = 12;

/// That each flow is as fast as it may be, and no resource gives more than it has.
void expect_fair(const FairShares& shares, const std::map<int, Uses>& flows) {
  std::vector<double> taken(kResources), fastest(kResources);
  for (const auto& [flow, uses] : flows)
    for (const Use& use : uses.all()) {
      taken[std::size_t(use.resource)] += shares.rate(flow) * use.per_unit;
      fastest[std::size_t(use.resource)] = std::max(fastest[std::size_t(use.resource)], shares.rate(flow));
    }
  for (int r = 0; r < kResources; ++r) EXPECT_LE(taken[std::size_t(r)], shares.capacity(r) * (1 + 1e-9));
  for (const auto& [flow, uses] : flows) {
    const bool is_stopped = std::ranges::any_of(uses.all(), [&](const Use& use) {
      const auto r = std::size_t(use.resource);
      return taken[r] > shares.capacity(use.resource) * (1 - 1e-9) &&
             fastest[r] <= shares.rate(flow) * (1 + 1e-9);
    });
    EXPECT_TRUE(is_stopped) << "flow " << flow << " could be faster than " << shares.rate(flow);
  }
}

TEST(FairShares, AreMaxMinFairAsFlowsComeAndGo) {
  std::mt19937 random(5);
  const auto draw = [&](int below) { return int(random() % unsigned(below)); };
  FairShares shares;
  for (int r = 0; r < kResources; ++r) shares.add_resource(1 + draw(9));
  std::map<int, Uses> flows;
  for (int step = 0; step < 500; ++step) {
    if (!flows.empty() && draw(5) < 2) {
      const auto gone = std::next(flows.begin(), draw(int(flows.size())));
      shares.remove(gone->first);
      flows.erase(gone);
    } else if (draw(10) == 0) {
      shares.set(draw(kResources), 1 + draw(9));
    } else {
      Uses uses;
      const int from = draw(kResources / 3), to = kResources / 3 + draw(kResources / 3);
      uses.add({from, 1}), uses.add({to, 1});
      if (draw(2) == 0) uses.add({2 * kResources / 3 + draw(kResources / 3), 0.5});
      flows[shares.add(uses)] = uses;
    }
    if (draw(3) == 0) continue;  // several changes at a time
    shares.settle();
    expect_fair(shares, flows);
  }
}

TEST(FairShares, FlowsThatShareNothingAreLeftAlone) {
  FairShares shares;
  for (int r = 0; r < 4; ++r) shares.add_resource(1);
  Uses left, right;
  left.add({0, 1}), left.add({1, 1});
  right.add({2, 1}), right.add({3, 1});
  const int first = shares.add(left), other = shares.add(right);
  EXPECT_EQ(shares.settle().size(), 2U);
  const int second = shares.add(left);
  const auto moved = shares.settle();
  EXPECT_EQ(std::vector<int>(moved.begin(), moved.end()), (std::vector<int>{first, second}));
  EXPECT_DOUBLE_EQ(shares.rate(first), 0.5);
  EXPECT_DOUBLE_EQ(shares.rate(other), 1);
}

}  // namespace
}  // namespace atl
