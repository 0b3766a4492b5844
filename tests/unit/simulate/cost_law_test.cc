// Laws of computing costs: recovered where costs follow one, and reported where they can't be.
#include "simulate/cost_law.h"

#include <gtest/gtest.h>

#include <string>

namespace atl {
namespace {

std::vector<double> seconds_by(const Sizes& factors, const std::vector<Sizes>& sizes) {
  std::vector<double> all;
  for (const Sizes& each : sizes) {
    double sum = 0;
    for (std::size_t s = 0; s < kSizes; ++s) sum += factors[s] * each[s];
    all.push_back(sum);
  }
  return all;
}

const std::vector<Sizes> kRanks{{1, 1000, 300, 9000},
                                {1, 1100, 900, 8000},
                                {1, 900, 500, 15000},
                                {1, 1300, 100, 12000},
                                {1, 1050, 650, 11000}};

TEST(CostLaw, IsFoundAgain) {
  for (const Sizes& law : {Sizes{1e-4, 2e-7, 1e-7, 5e-9}, Sizes{0, 2e-7, 0, 5e-9}, Sizes{0, 0, 3e-7, 0}}) {
    const Sizes found = fitted(kRanks, seconds_by(law, kRanks));
    for (std::size_t s = 0; s < kSizes; ++s)
      EXPECT_NEAR(found[s], law[s], 1e-6 * (law[s] + 1e-6)) << "size " << s;
  }
}

TEST(CostLaw, HasNoFactorBelowZero) {
  std::vector<double> seconds = seconds_by({5e-4, 0, 0, 0}, kRanks);
  for (std::size_t i = 0; i < kRanks.size(); ++i)
    seconds[i] -= 1e-8 * kRanks[i][3];  // cheaper with more arcs
  for (const double factor : fitted(kRanks, seconds)) EXPECT_GE(factor, 0);
}

RankRecording rank_of(const std::vector<double>& seconds, int layer = 0) {
  RankRecording rank;
  for (const int epoch : {1, 2}) {
    rank.steps.push_back({.kind = RecordedStep::Kind::kEpoch, .label = {.epoch = epoch}});
    for (const double each : seconds)
      rank.steps.push_back({.kind = RecordedStep::Kind::kCompute,
                            .seconds = each,
                            .label = {.layer = layer, .work = Work::kForward}});
  }
  return rank;
}

TEST(CostLaw, EachSegmentHasItsOwn) {
  const std::vector<double> first = seconds_by({0, 1e-6, 0, 0}, kRanks),
                            second = seconds_by({0, 0, 0, 1e-7}, kRanks);
  std::vector<RankRecording> ranks;
  for (std::size_t r = 0; r < kRanks.size(); ++r) ranks.push_back(rank_of({first[r], second[r]}));
  std::vector<CostLaw::Known> known;
  for (std::size_t r = 0; r < kRanks.size(); ++r) known.push_back({kRanks[r], &ranks[r]});
  RankRecording other = rank_of({0, 0});
  CostLaw(known).apply({1, 2000, 10, 40000}, other);
  EXPECT_NEAR(other.steps[1].seconds, 2e-3, 1e-9);
  EXPECT_NEAR(other.steps[2].seconds, 4e-3, 1e-9);
  EXPECT_NEAR(other.steps[5].seconds, 4e-3, 1e-9);
  EXPECT_NEAR(left_out_error(known), 0, 1e-6);
}

TEST(CostLaw, UnknownWorkIsTold) {
  const RankRecording rank = rank_of({1, 2});
  const CostLaw law({{kRanks[0], &rank}});
  RankRecording other = rank_of({0}, 3);
  try {
    law.apply(kRanks[1], other);
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("forward of layer 3 (use a larger --sample"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace atl
