// A few of a job's ranks train on emulated links: epochs take at least as long as links need for the bytes that are planned.
#include "plan/probe.h"

#include <gtest/gtest.h>

#include "plan/bench/stopwatch.h"
#include "plan/emulated_transport.h"
#include "plan/job_plan.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kRanks = 4;

class Probed : public testing::TestWithParam<SmallCase> {
 protected:
  Probed() {
    write_small_data(folder_ / "small", GetParam().data);
    std::vector<std::string> fields = GetParam().fields;
    fields.push_back("placement.ranks=4");
    job_ = small_job(fields);
    dataset_ = std::make_unique<Dataset>(Dataset::open(folder_ / "small"));
    prepared_ = std::make_unique<PreparedGraph>(PreparedGraph::make(
        *dataset_, partition_options(job_, kRanks), graph_transforms(job_), training_marks(*dataset_, job_)));
  }
  ProbedEpoch probed(const std::vector<Rank>& ranks, double link,
                     const std::vector<PairBytes>& flows = {}) const {
    return probe_epoch(job_, *dataset_, *prepared_, {ranks, {{0, 1, 2, 3}, flows}, 1, link, 1e9});
  }
  /// Rows that a rank sends in an epoch.
  double sent(Rank rank) const {
    const JobPlan plan = plan_job(job_, *dataset_, *prepared_, {1, {1e9, 1e9, 1e9}, 1e9});
    const TrafficBytes& bytes = plan.ranks[std::size_t(rank)].epoch;
    return double(bytes[std::size_t(Traffic::kHalo)] + bytes[std::size_t(Traffic::kHaloGradient)]);
  }

  TemporaryFolder folder_;
  Job job_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<PreparedGraph> prepared_;
};

TEST_P(Probed, AnEpochTakesItsBytesTime) {
  const double wanted = 0.02, link = sent(1) / wanted;
  const ProbedEpoch slow = probed({1}, link);
  EXPECT_GE(slow.epoch_seconds, 0.99 * wanted);
  EXPECT_GT(slow.evaluation_seconds, 0);
  const ProbedEpoch together = probed({0, 1, 2, 3}, link);
  EXPECT_GE(together.epoch_seconds, 0.99 * wanted) << "the slowest rank's";
}

TEST_P(Probed, ItWaitsForTheServerWithMost) {
  const double wanted = 0.02, link = sent(1) / wanted;
  const ProbedEpoch behind = probed({1}, link, {{0, 1, 1, 1}, {1, 0, 1, 1}, {0, 2, 4, 4}, {2, 0, 4, 4}});
  EXPECT_GE(behind.epoch_seconds, 0.99 * 5 * wanted)
      << "server 0's link carries five times as much as rank 1's";
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, Probed,
    testing::Values(SmallCase{"graph", {}}, SmallCase{"synchronous", {"strategy.graph={overlap: false}"}},
                    SmallCase{"pipegcn", {"strategy.kind=pipegcn", "model.kind=sage"}},
                    SmallCase{"bns", {"strategy.kind=bns", "strategy.bns={rate: 0.5}", "model.kind=gat"}},
                    SmallCase{"cagnet", {"strategy.kind=cagnet"}},
                    SmallCase{"cagnet_grid", {"strategy.kind=cagnet", "strategy.cagnet={replication: 2}"}},
                    SmallCase{"sancus", {"strategy.kind=sancus", "model.norm=batch"}},
                    SmallCase{"inductive", {"training.setting=inductive", "training.recompute=layer"}}),
    [](const auto& each) { return each.param.name; });

/// Seconds that a group of messages takes.
double takes(Transport& transport, std::vector<std::int64_t> to_peers) {
  std::vector<std::byte> bytes(1 << 20);
  std::vector<Message> sends;
  for (std::size_t peer = 0; peer < to_peers.size(); ++peer)
    if (to_peers[peer] > 0) sends.push_back({Rank(peer), bytes.data(), to_peers[peer]});
  const double begin = seconds_now();
  Pending& pending = transport.start(Lane::kBulk, 0, sends, sends);
  while (!pending.done()) std::this_thread::yield();
  return seconds_now() - begin;
}

TEST(EmulatedTransport, LinksBetweenServersAndWithinOneHaveTheirRates) {
  const auto transport = make_emulated_transport(0, {"a", "a", "b", "c"}, {10e6, 100e6});
  EXPECT_GE(takes(*transport, {0, 1 << 20, 0, 0}), 0.0104);
  EXPECT_GE(takes(*transport, {0, 0, 1 << 19, 0}), 0.0524);
  EXPECT_GE(takes(*transport, {0, 1 << 20, 1 << 18, 1 << 18}), 0.0628) << "peers share the link";
}

/// Of an exchange that brings more than it takes, as of the one on the way back.
TEST(EmulatedTransport, AnExchangeEndsWhenTheBusiestServersWaysHaveCarriedIt) {
  std::vector<std::byte> bytes(1 << 20);
  const Message more{1, bytes.data(), 100'000}, less{1, bytes.data(), 50'000};
  const auto takes = [&](const Busiest& busiest, const Message& sent, const Message& received) {
    const auto transport = make_emulated_transport(0, {"a", "b"}, {10e6, 100e6, busiest});
    const double begin = seconds_now();
    Pending& pending = transport->start(Lane::kBulk, 0, std::span(&sent, 1), std::span(&received, 1));
    while (!pending.done()) std::this_thread::yield();
    return seconds_now() - begin;
  };
  for (const auto& [out, in] : {std::pair{more, less}, std::pair{less, more}}) {
    EXPECT_GE(takes({3, 1}, out, in), 0.03) << "as the way with more";
    EXPECT_GE(takes({1, 4}, out, in), 0.02) << "as the way with less";
  }
}

TEST(EmulatedTransport, BulkWaitsForWhatIsSmall) {
  const auto transport = make_emulated_transport(0, {"a", "b"}, {10e6, 100e6});
  std::vector<std::byte> bytes(1 << 20);
  const Message bulk{1, bytes.data(), 400'000}, small{1, bytes.data(), 100'000};
  const double begin = seconds_now();
  Pending& behind = transport->start(Lane::kBulk, 0, std::span(&bulk, 1), {});
  Pending& before = transport->start(Lane::kSmall, 0, std::span(&small, 1), {});
  while (!before.done()) std::this_thread::yield();
  EXPECT_FALSE(behind.done());
  EXPECT_GE(seconds_now() - begin, 0.035) << "256 kB stand before the link";
  while (!behind.done()) std::this_thread::yield();
  EXPECT_GE(seconds_now() - begin, 0.05) << "their sum";
}

}  // namespace
}  // namespace atl
