// Replays whose length can be computed by hand: shared links, a pipeline, sums, a core that both messages and
// computing use.
#include <gtest/gtest.h>

#include "comm/all_reduce.h"
#include "comm/transports.h"
#include "simulate/program.h"

namespace atl {
namespace {

TEST(Replay, SendersShareTheLinkOfTheirReceiver) {
  constexpr int kSenders = 4;
  std::vector<Program> programs(kSenders + 1);
  std::vector<RecordedMessage> incoming;
  for (Rank r = 0; r < kSenders; ++r) {
    Program& sender = programs[std::size_t(r)].epoch(1);
    sender.wait(sender.exchange({{kSenders, kMegabyte}}, {}));
    incoming.push_back({r, kMegabyte});
  }
  Program& receiver = programs[kSenders].epoch(1);
  receiver.wait(receiver.exchange({}, incoming));
  for (const double end : ends(programs, servers(kSenders + 1))) EXPECT_NEAR(end, 4, kClose);
}

TEST(Replay, BothWaysOfALinkAreFree) {
  std::vector<Program> programs(2);
  for (Rank r = 0; r < 2; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.wait(p.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}}));
  }
  for (const double end : ends(programs, servers(2))) EXPECT_NEAR(end, 1, kClose);
}

TEST(Replay, AFlowThatJoinsTakesHalf) {
  std::vector<Program> programs(3);
  Program &first = programs[0].epoch(1), &second = programs[1].epoch(1).compute(0.5),
          &to = programs[2].epoch(1);
  first.wait(first.exchange({{2, kMegabyte}}, {}));
  second.wait(second.exchange({{2, kMegabyte}}, {}));
  to.wait(to.exchange({}, {{0, kMegabyte}, {1, kMegabyte}}));
  const std::vector<double> end = ends(programs, servers(3));
  EXPECT_NEAR(end[0], 1.5, kClose) << "half of it alone, half at half the rate";
  EXPECT_NEAR(end[1], 2, kClose) << "and the other one's last part alone again";
}

TEST(Replay, ALongMessageWaitsForItsReceiver) {
  std::vector<Program> programs(2);
  Program &from = programs[0].epoch(1), &to = programs[1].epoch(1).compute(3);
  from.wait(from.exchange({{1, kMegabyte}}, {}));
  to.wait(to.exchange({}, {{0, kMegabyte}}));
  const std::vector<double> end = ends(programs, servers(2));
  EXPECT_NEAR(end[0], 4, kClose);
  EXPECT_NEAR(end[1], 4, kClose);
}

TEST(Replay, AShortMessageLeavesWithoutIt) {
  std::vector<Program> programs(2);
  Program &from = programs[0].epoch(1), &to = programs[1].epoch(1).compute(3);
  from.wait(from.exchange({{1, 50'000}}, {}, Lane::kSmall));
  to.wait(to.exchange({}, {{0, 50'000}}, Lane::kSmall));
  const std::vector<double> end = ends(programs, servers(2));
  EXPECT_NEAR(end[0], 0.05, kClose);
  EXPECT_NEAR(end[1], 3, kClose);
}

/// Chunks of one second each through four stages, handed on in a tenth: the last stage begins after three of
/// both.
TEST(Replay, APipelineTakesItsMakespan) {
  constexpr int kStages = 4, kChunks = 10;
  std::vector<Program> programs(kStages);
  for (Rank s = 0; s < kStages; ++s) {
    Program& stage = programs[std::size_t(s)].epoch(1);
    int sending = -1;
    for (int k = 0; k < kChunks; ++k) {
      if (s > 0) stage.wait(stage.exchange({}, {{s - 1, 100'000}}));
      stage.compute(1);
      if (sending >= 0) stage.wait(sending);
      if (s + 1 < kStages) sending = stage.exchange({{s + 1, 100'000}}, {});
    }
    if (sending >= 0) stage.wait(sending);
  }
  const double transfers = (kStages - 1) * 0.1;
  // Each receiver asks for a chunk when it is through with the one before, and so waits for the whole of it.
  const double waits = (kChunks - 1) * 0.1;
  EXPECT_NEAR(ends(programs, servers(kStages)).back(), kStages + kChunks - 1 + transfers + waits,
              10 * kClose);
}

TEST(Replay, ASumTakesItsRounds) {
  constexpr int kRanks = 4;
  constexpr Index kBytes = 4'000'000;
  std::vector<Program> programs(kRanks);
  for (Rank r = 0; r < kRanks; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.wait(p.sum(r, kRanks, kBytes));
  }
  const double seconds = double(all_reduce_bytes(kRanks, 0, kBytes / 4, 4)) / 1e6;
  for (const double end : ends(programs, servers(kRanks))) EXPECT_NEAR(end, seconds, kClose);
}

TEST(Replay, SumsPassBulk) {
  std::vector<Program> programs(2);
  std::vector<int> bulk(2);
  for (Rank r = 0; r < 2; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    const int long_one = p.exchange({{1 - r, 4 * kMegabyte}}, {{1 - r, 4 * kMegabyte}});
    p.compute(1).wait(p.sum(r, 2, 100'000)).epoch(2).wait(long_one);
  }
  Recording recording;
  for (const Program& each : programs) recording.ranks.push_back(each.recording());
  for (const auto& rank : replay(recording, servers(2)).ranks) {
    EXPECT_NEAR(rank[0].end, 1.1 + kQueuedBytes / 1e6, kClose) << "after what stands before the link";
    EXPECT_NEAR(rank[1].end, 4.1, kClose);
  }
}

/// Rank 1 joins the sum after it has got the bulk, which must not be held for a sum that can't end.
TEST(Replay, BulkIsNotHeldForASumThatWaits) {
  std::vector<Program> programs(2);
  Program &first = programs[0].epoch(1), &second = programs[1].epoch(1);
  const int bulk = first.exchange({{1, 4 * kMegabyte}}, {});
  first.wait(first.sum(0, 2, 128 * 128 * 4)).wait(bulk);
  second.wait(second.exchange({}, {{0, 4 * kMegabyte}})).wait(second.sum(1, 2, 128 * 128 * 4));
  for (const double end : ends(programs, servers(2))) EXPECT_NEAR(end, 4.13, 0.01);
}

TEST(Replay, ALatencyIsAddedToEachMessage) {
  std::vector<Program> programs(2);
  Program &from = programs[0].epoch(1), &to = programs[1].epoch(1);
  from.wait(from.exchange({{1, 50'000}}, {}));
  to.wait(to.exchange({}, {{0, 50'000}}));
  Topology t = servers(2);
  t.latency = 0.5;
  const std::vector<double> end = ends(programs, t);
  EXPECT_NEAR(end[0], 0.05, kClose) << "the sender is through when it has left";
  EXPECT_NEAR(end[1], 0.55, kClose);
}

TEST(Replay, MessagesAreHandedOverOneAfterTheOther) {
  constexpr int kReceivers = 10;
  std::vector<Program> programs(kReceivers + 1);
  std::vector<RecordedMessage> sends;
  for (Rank r = 1; r <= kReceivers; ++r) {
    sends.push_back({r, 8});
    Program& p = programs[std::size_t(r)].epoch(1);
    p.wait(p.exchange({}, {{0, 8}}));
  }
  Program& sender = programs[0].epoch(1);
  sender.wait(sender.exchange(sends, {}));
  Topology t = servers(kReceivers + 1);
  t.message_seconds = 0.1;
  const std::vector<double> end = ends(programs, t);
  for (std::size_t r = 1; r <= kReceivers; ++r)
    EXPECT_NEAR(end[r], 0.1 * double(r) + 0.1, kClose) << "its turn, and its receiver's own";
  EXPECT_NEAR(end[0], 1, kClose);
}

/// A rank that computes looks for messages after a quarter of the time that it has waited for them, up to 2
/// ms.
TEST(Replay, ARankThatComputesSeesMessagesLater) {
  std::vector<Program> programs(2);
  Program &from = programs[0].epoch(1), &to = programs[1].epoch(1);
  from.compute(0.001).wait(from.exchange({{1, 8}}, {{1, 8}}, Lane::kSmall));
  const int asked = to.exchange({{0, 8}}, {{0, 8}}, Lane::kSmall);
  to.compute(0.00104).wait(asked);
  Topology looks = servers(2), at_once = servers(2);
  at_once.polls = false;
  const double later = ends(programs, looks)[1] - ends(programs, at_once)[1];
  EXPECT_GT(later, 5e-6);
  EXPECT_LT(later, 60e-6);
}

TEST(Replay, MessagesTakeTheOnlyCore) {
  std::vector<Program> programs(2);
  for (Rank r = 0; r < 2; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}});
    p.compute(2);
  }
  Topology one = servers(2), two = servers(2, 2);
  one.byte_seconds = two.byte_seconds = 0.1e-6;  // a tenth of a core at 1 MB/s, each way
  for (const double end : ends(programs, one)) EXPECT_NEAR(end, 2.2, kClose);
  for (const double end : ends(programs, two)) EXPECT_NEAR(end, 2, kClose);
}

TEST(Replay, MessagesWithinAServerAreCopiedByItsRanks) {
  std::vector<Program> programs(2);
  for (Rank r = 0; r < 2; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}});
    p.compute(2);
  }
  Topology free{.name = "test", .servers = {{"server", {0, 1}, 1e6}}, .inside = {1e6, 0}}, costly = free;
  costly.inside.byte_seconds = 0.1e-6;  // a tenth of a core at 1 MB/s, each way
  for (const double end : ends(programs, free)) EXPECT_NEAR(end, 2, kClose);
  for (const double end : ends(programs, costly)) EXPECT_NEAR(end, 2.2, kClose);
}

TEST(Replay, ABridgeIsForItsPairAlone) {
  std::vector<Program> programs(3);
  for (Rank r = 0; r < 2; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.wait(p.exchange({{1 - r, kMegabyte}}, {{1 - r, kMegabyte}}));
  }
  Program& third = programs[2].epoch(1);
  third.compute(0);
  Topology t{.name = "test", .servers = {{"server", {0, 1, 2}, 1e6}}, .inside = {1e5, 0}};
  EXPECT_NEAR(ends(programs, t)[0], 10, kClose);
  t.bridges = {{0, 1}}, t.bridge = {1e7, 0};
  EXPECT_NEAR(ends(programs, t)[0], 0.1, kClose);
}

TEST(Replay, RanksOfAServerShareItsLink) {
  std::vector<Program> programs(4);
  for (Rank r = 0; r < 4; ++r) {
    Program& p = programs[std::size_t(r)].epoch(1);
    p.wait(p.exchange({{(r + 2) % 4, kMegabyte}}, {{(r + 2) % 4, kMegabyte}}));
  }
  Topology t{.name = "test", .servers = {{"a", {0, 1}, 1e6}, {"b", {2, 3}, 1e6}}, .inside = {1e9, 0}};
  for (const double end : ends(programs, t)) EXPECT_NEAR(end, 2, kClose);
  t.rack_servers = 1, t.rack_rate = 0.5e6;
  for (const double end : ends(programs, t))
    EXPECT_NEAR(end, 4, kClose) << "the racks' links are half as fast";
}

/// Ten seconds of computing. A factor makes all of it faster; by rates, a rank of nothing but products is as
/// much faster as products are, and one that gathers and streams as long each as its mean.
TEST(Replay, RatesOfKernelsMakeRanksFaster) {
  Recording recording;
  for (int r = 0; r < 2; ++r) recording.ranks.push_back(Program().epoch(1).compute(10).recording());
  recording.works = {{.product_flops = 5}, {.gathered_bytes = 30, .streamed_bytes = 10}};
  recording.rates = {.triad_bytes = 1, .gather_bytes = 3, .product_flops = 1};
  const auto end = [&](const Topology& topology, int rank) {
    return replay(recording, topology).ranks[std::size_t(rank)].back().end;
  };
  Topology faster = servers(2);
  faster.speed = 4;
  EXPECT_NEAR(end(faster, 0), 2.5, kClose);
  EXPECT_NEAR(end(faster, 1), 2.5, kClose);
  faster.rates = MachineRates{.triad_bytes = 10, .gather_bytes = 6, .product_flops = 100};
  EXPECT_NEAR(end(faster, 0), 10.0 / 100, kClose);
  EXPECT_NEAR(end(faster, 1), 10 * (30.0 / 6 + 10.0 / 10) / (30.0 / 3 + 10), kClose);
}

TEST(Replay, OperationsThatNeverMeetAreTold) {
  std::vector<Program> programs(2);
  Program& p = programs[0].epoch(1);
  p.wait(p.exchange({}, {{1, kMegabyte}}));
  programs[1].epoch(1).compute(1);
  try {
    ends(programs, servers(2));
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("rank 0 waits for its setup exchange with rank 1"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace atl
