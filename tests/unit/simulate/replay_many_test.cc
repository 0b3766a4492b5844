// Replays of many messages: short ones, and more than links' shares are computed again for at once.
#include <gtest/gtest.h>

#include "simulate/program.h"

namespace atl {
namespace {

/// As few frames as they have, they take turns on the link; bulk has the rest.
TEST(ReplayOfMany, ShortMessagesTakeTheirTimeFromBulk) {
  constexpr int kShortOnes = 250;
  std::vector<Program> programs(3);
  Program &from = programs[0].epoch(1), &bulk = programs[1].epoch(1), &shorts = programs[2].epoch(1);
  const int long_one = from.exchange({{1, kMegabyte}}, {});
  bulk.wait(bulk.exchange({}, {{0, kMegabyte}}));
  for (int i = 0; i < kShortOnes; ++i) {
    from.compute(0.001);
    from.exchange({{2, 1000}}, {}, Lane::kPrefetch);
    shorts.exchange({}, {{0, 1000}}, Lane::kPrefetch);
  }
  from.wait(long_one).epoch(2);
  shorts.wait(kShortOnes - 1);
  const std::vector<double> end = ends(programs, servers(3));
  EXPECT_NEAR(end[1], 1.25, kClose) << "the link carries both";
  EXPECT_NEAR(end[2], 0.252, kClose) << "one that is sent waits for as much of the long one";
}

/// All to all, from ranks that begin one after the other: more flows than rates are worked out anew for at
/// once.
TEST(ReplayOfMany, ManyMessagesFillTheirLinks) {
  constexpr int kRanks = 48;
  std::vector<Program> programs(kRanks);
  for (Rank r = 0; r < kRanks; ++r) {
    std::vector<RecordedMessage> sends, receives;
    for (Rank other = 0; other < kRanks; ++other)
      if (other != r) sends.push_back({other, kMegabyte / 10}), receives.push_back({other, kMegabyte / 10});
    Program& p = programs[std::size_t(r)].epoch(1).compute(0.01 * r);
    p.wait(p.exchange(sends, receives));
  }
  const double bytes = (kRanks - 1) * 0.1, last = 0.01 * (kRanks - 1);
  for (const double end : ends(programs, servers(kRanks))) {
    EXPECT_GT(end, bytes);
    EXPECT_LT(end, (bytes + last) * 65 / 64);
  }
}

/// Each rank hands its messages over by rank, and takes as many, one after the other: the last rank's come
/// when it could have been through.
TEST(ReplayOfMany, ASumOfHundredsOfRanksTakesItsMessages) {
  constexpr int kRanks = 300;
  std::vector<Program> programs(kRanks);
  for (Rank r = 0; r < kRanks; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.wait(p.sum(r, kRanks, 32));
  }
  Topology t = servers(kRanks);
  t.message_seconds = 0.01, t.polls = false;
  const std::vector<double> end = ends(programs, t);
  for (std::size_t r = 0; r < kRanks; ++r) EXPECT_NEAR(end[r], 0.01 * double(kRanks - 1 + r), 0.03);
}

}  // namespace
}  // namespace atl
