// A recording equals what ranks do: the same losses, and the same bytes between each two, as on ranks that
// run side by side, over any links.
#include "simulate/record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <thread>

#include "base/error.h"
#include "plan/dry_run.h"
#include "simulate/recorder.h"
#include "simulate/simulation.h"
#include "train/optimizer.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kRanks = 4, kEpochs = 4;

class Recorded : public testing::TestWithParam<SmallCase> {
 protected:
  Recorded() {
    write_small_data(folder_ / "small", GetParam().data);
    std::vector<std::string> fields = GetParam().fields;
    fields.push_back("placement.ranks=4");
    job_ = small_job(fields);
    dataset_ = std::make_unique<Dataset>(Dataset::open(folder_ / "small"));
    prepared_ = std::make_unique<PreparedGraph>(PreparedGraph::make(
        *dataset_, partition_options(job_, kRanks), graph_transforms(job_), training_marks(*dataset_, job_)));
  }
  Recording recorded(int at_once = 1) const {
    return record_run(
        job_, *dataset_, *prepared_,
        {.epochs = kEpochs, .at_once = at_once, .hosts = std::vector<std::string>(kRanks, "a")});
  }

  TemporaryFolder folder_;
  Job job_;
  std::unique_ptr<Dataset> dataset_;
  std::unique_ptr<PreparedGraph> prepared_;
};

/// All that the rank's threads start.
std::vector<RecordedOperation> operations_of(const RankRecording& rank) {
  std::vector<RecordedOperation> all = rank.operations;
  for (const RecordedBatch& batch : rank.batches.all)
    all.insert(all.end(), batch.operations.begin(), batch.operations.end());
  return all;
}

using Exchanged = std::map<std::pair<Rank, Rank>, std::int64_t>;  // (from, to): bytes of exchanges

Exchanged exchanged(const Recording& recording) {
  Exchanged bytes;
  for (Rank r = 0; r < Rank(recording.ranks.size()); ++r)
    for (const RecordedOperation& op : operations_of(recording.ranks[std::size_t(r)]))
      for (const auto& [peer, count] : op.sends) bytes[{r, peer}] += count;
  return bytes;
}

TEST_P(Recorded, LossesAreThoseOfRanksSideBySide) {
  std::vector<double> losses(kEpochs), vertices(kEpochs);
  std::mutex lock;  // guards them
  run_ranks(kRanks, [&](Communicator& comm) {
    ThreadPool pool(1);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    RankData data(job_, *dataset_, *prepared_, comm.rank());
    data.count(comm);
    Trainer trainer(ctx, comm, job_, data);
    const TrainingSpec& t = job_.training;
    for (Index epoch = 1; epoch <= kEpochs; ++epoch) {
      double sum = 0, of = 0;
      for (std::int64_t step = (epoch - 1) * trainer.steps() + 1; step <= epoch * trainer.steps(); ++step) {
        std::array<double, 1> loss{trainer.train_step(
            step, learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs))};
        comm.all_reduce(Traffic::kStatistics, std::span<double>(loss));
        sum += loss[0], of += trainer.step_vertices();
      }
      const std::lock_guard guard(lock);
      losses[std::size_t(epoch - 1)] = sum;
      vertices[std::size_t(epoch - 1)] = std::max(of, vertices[std::size_t(epoch - 1)]);
    }
  });
  for (const int at_once : {1, 2}) {
    const Recording recording = recorded(at_once);
    ASSERT_EQ(recording.losses.size(), std::size_t(kEpochs));
    for (std::size_t e = 0; e < recording.losses.size(); ++e) {
      EXPECT_GT(losses[e], 0);
      EXPECT_EQ(recording.losses[e], losses[e] / vertices[e]) << "epoch " << e + 1;
    }
  }
}

TEST_P(Recorded, EveryMessageHasItsReceiver) {
  const Recording recording = recorded();
  Exchanged received;
  for (Rank r = 0; r < kRanks; ++r)
    for (const RecordedOperation& op : operations_of(recording.ranks[std::size_t(r)]))
      for (const auto& [peer, count] : op.receives) received[{peer, r}] += count;
  EXPECT_EQ(exchanged(recording), received);
  EXPECT_EQ(exchanged(recording), exchanged(recorded(2))) << "whoever computes beside whom";
}

TEST_P(Recorded, BytesDependOnNoLink) {
  const RecordedStrategy strategy{"s", recorded()};
  Topology slow{.name = "slow"}, fast{.name = "fast"};
  for (Rank r = 0; r < kRanks; ++r) {
    slow.servers.push_back({"a", {r}, 1e4 * (r + 1)});
    fast.servers.push_back({"a", {r}, 1e9});
  }
  const SimulatedRow far = simulate(strategy, slow), near = simulate(strategy, fast);
  EXPECT_GT(far.bytes_between, 0);
  EXPECT_DOUBLE_EQ(far.bytes_between, near.bytes_between);
  EXPECT_GT(far.epoch, near.epoch);
  EXPECT_GE(near.epoch, 0.99 * near.compute);
  EXPECT_DOUBLE_EQ(far.free_links, near.free_links);
  EXPECT_LE(near.free_links, 1.01 * near.epoch);
}

/// What each rank does in order, without costs.
std::vector<std::string> program(const RankRecording& rank) {
  std::vector<std::string> all;
  for (const RecordedStep& step : rank.steps) {
    all.push_back(fmt::format("{} {} {} {}", int(step.kind), step.operation, work_name(step.label.work),
                              step.label.layer));
    if (step.kind != RecordedStep::Kind::kStart) continue;
    const RecordedOperation& op = rank.operations[std::size_t(step.operation)];
    all.back() += fmt::format(" {} {} {}", traffic_name(op.purpose), int(op.lane), op.sums ? op.count : 0);
    for (const auto& [peer, bytes] : op.sends) all.back() += fmt::format(" to {}: {}", peer, bytes);
    for (const auto& [peer, bytes] : op.receives) all.back() += fmt::format(" from {}: {}", peer, bytes);
  }
  return all;
}

/// Of strategies whose ranks don't ask each other for rows.
class RecordedAlone : public Recorded {};

TEST_P(RecordedAlone, ARankByItselfDoesTheSame) {
  const Recording together = recorded();
  for (const int at_once : {1, 2}) {
    const Recording alone =
        record_alone(job_, *dataset_, *prepared_,
                     {.epochs = kEpochs, .at_once = at_once, .hosts = std::vector<std::string>(kRanks, "a")});
    EXPECT_TRUE(alone.losses.empty());
    for (std::size_t r = 0; r < kRanks; ++r)
      EXPECT_EQ(program(alone.ranks[r]), program(together.ranks[r])) << "rank " << r;
  }
}

TEST_P(RecordedAlone, ADryRankDoesTheSame) {
  const Recording together = recorded();
  const std::vector<std::string> hosts(kRanks, "a");
  DryInputs inputs(job_, *dataset_, *prepared_, {0, 1, 2, 3}, 1, hosts);
  for (Rank r = 0; r < kRanks; ++r)
    EXPECT_EQ(program(dry_recording(inputs.of(r), kEpochs)), program(together.ranks[std::size_t(r)]))
        << "rank " << r;
}

TEST(Recorder, ARankThatFailsEndsTheOthers) {
  Recorder recorder({"a", "a"}, 2);
  std::vector<std::string> told(2);
  const auto rank_main = [&](Rank rank) {
    try {
      const Recorder::Turn turn(recorder, rank);
      Communicator comm(recorder.engine(rank));
      const Recorder::Guard guard(recorder, rank);
      comm.barrier();
      if (rank == 0) fail("out of ideas");
      std::array<double, 2> values{};
      comm.all_reduce(Traffic::kStatistics, std::span<double>(values));
    } catch (const std::exception& error) {
      told[std::size_t(rank)] = error.what();
    }
  };
  std::thread other([&] { rank_main(1); });
  rank_main(0);
  other.join();
  EXPECT_EQ(told[0], "out of ideas");
  EXPECT_EQ(told[1], "rank 0 has given up");
  EXPECT_EQ(recorder.first_to_give_up(), 0);
}

TEST(Recorder, RanksThatWaitForEachOtherAreTold) {
  Recorder recorder({"a", "a"}, 1);
  std::vector<std::string> told(2);
  const auto rank_main = [&](Rank rank) {
    try {
      const Recorder::Turn turn(recorder, rank);
      Communicator comm(recorder.engine(rank));
      std::array<std::byte, 4> bytes{};
      const std::vector<Message> from{{1 - rank, bytes.data(), 4}};
      comm.exchange(Lane::kBulk, Traffic::kHalo, std::span<const Message>{}, from).wait();
    } catch (const std::exception& error) {
      told[std::size_t(rank)] = error.what();
    }
  };
  std::thread other([&] { rank_main(1); });
  rank_main(0);
  other.join();
  for (const std::string& each : told)
    EXPECT_NE(each.find("all ranks wait for each other"), std::string::npos) << each;
}

std::vector<SmallCase> of_parts() {
  return {{"Graph", {}},
          {"InStep", {"strategy={kind: graph, graph: {overlap: false}}"}},
          {"Pipegcn", {"strategy={kind: pipegcn}"}},
          {"Bns", {"strategy={kind: bns, bns: {rate: 0.5}}"}},
          {"Cagnet", {"strategy={kind: cagnet}"}},
          {"Sancus", {"strategy={kind: sancus}"}},
          {"Gnnpipe", {"strategy={kind: gnnpipe, gnnpipe: {stages: 2, chunks: 4}}"}},
          {"Granndis", {"strategy={kind: granndis}", "placement.ranksPerServer=2"}}};
}

std::vector<SmallCase> all_strategies() {
  std::vector<SmallCase> all = of_parts();
  all.push_back({"Dgs", {"strategy={kind: dgs, dgs: {batchSize: 8, explainEvery: 2, explainEpochs: 3}}"}});
  all.push_back({"Minibatch", {"strategy={kind: minibatch, minibatch: {batchSize: 8}}"}});
  all.push_back(
      {"Historical", {"strategy={kind: minibatch, minibatch: {sampler: historical, batchSize: 8}}"}});
  all.push_back({"Ladies", {"strategy={kind: minibatch, minibatch: {sampler: ladies, batchSize: 8}}"}});
  all.push_back({"SaintWalks", {"strategy={kind: minibatch, minibatch: {sampler: saintWalk, draws: 5}}"}});
  all.push_back({"P3", {"strategy={kind: p3, p3: {batchSize: 8}}"}});
  all.push_back({"P3Pipeline", {"strategy={kind: p3, p3: {batchSize: 8, delay: 3}}"}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Strategies, Recorded, testing::ValuesIn(all_strategies()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(Strategies, RecordedAlone, testing::ValuesIn(of_parts()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl
