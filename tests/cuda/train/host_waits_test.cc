// The compute thread's waits for its GPU within a step: one for the step's state, at its end, and at most one
// for each operation between ranks. Any other wait would show in the count of synchronising calls.
#include <cstring>

#include "gpu_training.h"
#include "train/best.h"
#include "train/every_model.h"
#include "watched_engine.h"

namespace atl::test {
namespace {

struct Watched {
  std::string name;
  Job job;
  std::filesystem::path dataset;
  /// An epoch or a step begins with another part of the graph, for which memory comes and goes.
  bool takes_parts() const { return name == "granndis_batches" || name == "granndis_redrawn"; }
  /// Sancus' bounded rule reads how far a layer's rows have changed.
  Index reads() const { return name == "sancus_bounded" ? job.model.layers : 0; }
};

constexpr int kSeen = 2,
              kCounted = 2;  // epochs: the first ones make room, as do later batches that are larger

/// Returns how many operations between ranks the rank waited for in the steps that were counted.
std::int64_t watch_rank(Communicator& comm, const Watched& what, const std::int64_t& waited) {
  const OpenDevice device = backend().open(comm.rank());
  SmallRank rank(comm, what.job, what.dataset, 1, {}, Device::kCuda, *device.stream);
  Trainer& trainer = *rank.trainer;
  int seen = 0;
  std::int64_t all = 0;
  for (Index step = 1; step <= (kSeen + kCounted) * trainer.steps(); ++step) {
    const std::int64_t operations = waited, waits = emulated::host_waits(), freed = emulated::frees();
    trainer.train_step(step, 0.01);
    if (step <= kSeen * trainer.steps() || freed != emulated::frees()) continue;
    ++seen;
    all += waited - operations;
    EXPECT_LE(emulated::host_waits() - waits, 1 + what.reads() + waited - operations)
        << what.name << ", rank " << comm.rank() << ", step " << step << ", " << trainer.steps()
        << " an epoch";
  }
  EXPECT_EQ(seen == 0, what.takes_parts()) << what.name << ": memory grows in every step";
  return all;
}

/// Returns watch_rank()'s of all ranks.
std::int64_t expect_few_waits(const Watched& what) {
  const int ranks = what.job.placement.ranks;
  auto transports = linked_group(ranks, ranks);
  std::vector<std::string> failures{std::size_t(ranks)};
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> all{0};
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        std::int64_t waited = 0;
        Communicator comm(std::make_unique<WatchedEngine>(std::move(transports[std::size_t(r)]),
                                                          [&](const Operation&) { ++waited; }));
        all += watch_rank(comm, what, waited);
      } catch (const std::exception& error) {
        failures[std::size_t(r)] = error.what();
      }
    });
  for (std::thread& each : threads) each.join();
  for (const std::string& each : failures) EXPECT_EQ(each, "") << what.name;
  return all;
}

void expect_same_bits_of(Matrix& got, HostArray want) {
  EXPECT_EQ(std::memcmp(got.data(), want.data(), std::size_t(got.bytes())), 0);
}

class HostWaits : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  HostWaits() { write_small_data(folder_ / "small", {}); }
};

TEST_P(HostWaits, OnlyForTheStateAndForOtherRanks) {
  emulated::set_seed(5);
  for (const StrategyCase& strategy : every_strategy())
    if (strategy.ranks == 2 || GetParam().name == "gcn")
      expect_few_waits({strategy.name, job_of(GetParam(), strategy), folder_ / "small"});
}

TEST_P(HostWaits, NoOftenerWhereGpusSum) {
  const StrategyCase strategy{"graph", 4, {"strategy.kind=graph"}};
  Watched watched{strategy.name, job_of(GetParam(), strategy), folder_ / "small"};
  const std::int64_t in_order = expect_few_waits(watched);
  watched.job.training.deterministic = false;
  EXPECT_EQ(expect_few_waits(watched), in_order);
}

TEST_P(HostWaits, OnOneRankOnlyForTheState) {
  for (const std::string kind : {"graph", "pipegcn", "bns", "cagnet", "sancus", "minibatch", "p3"}) {
    StrategyCase strategy{kind, 1, {"strategy.kind=" + kind}};
    if (kind == "minibatch" || kind == "p3") strategy.fields.push_back("strategy." + kind + ".batchSize=7");
    expect_few_waits({kind, job_of(GetParam(), strategy), folder_ / "small"});
  }
}

/// What an evaluation may do beyond what training does: waits of its own, and copies between the host and the
/// GPU.
struct Light {
  Index waits = 1, copies = 0;
};

emulated::Copies copied_since(const emulated::Copies& before) {
  const emulated::Copies now = emulated::copies();
  return {now.calls - before.calls, now.bytes - before.bytes};
}

/// As few as an epoch of training has, and as small where they are no more: the metric's counts, and no rows.
void expect_few_copies(const emulated::Copies& evaluation, const emulated::Copies& training, Index more,
                       const std::string& name) {
  EXPECT_GT(training.calls, 0) << name << ": nothing is counted";
  EXPECT_LE(evaluation.calls, training.calls + more) << name;
  if (more > 0) return;
  EXPECT_LE(evaluation.bytes, training.bytes + std::int64_t(sizeof(SplitCounts))) << name;
}

/// Beside what its ranks wait for each other, once, whatever the metric is: and no memory comes or goes, for
/// that would stop the whole GPU. The best epoch's weights come while the next step is under way.
void expect_light_evaluation(const Watched& what, const Light& allowed) {
  const int ranks = what.job.placement.ranks;
  auto transports = linked_group(ranks, ranks);
  std::vector<std::string> failures{std::size_t(ranks)};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      try {
        std::int64_t waited = 0;
        Communicator comm(std::make_unique<WatchedEngine>(std::move(transports[std::size_t(r)]),
                                                          [&](const Operation&) { ++waited; }));
        const OpenDevice device = backend().open(comm.rank());
        SmallRank rank(comm, what.job, what.dataset, 1, {}, Device::kCuda, *device.stream);
        Trainer& trainer = *rank.trainer;
        Best best(what.job.training.early_stopping);
        for (Index epoch = 1; epoch <= 4; ++epoch) {
          const emulated::Copies before_training = emulated::copies();
          trainer.train_epoch(epoch, 0.01);
          const emulated::Copies training = copied_since(before_training), before = emulated::copies();
          const std::int64_t operations = waited, waits = emulated::host_waits(), freed = emulated::frees(),
                             allocated = emulated::allocations();
          Evaluation evaluation = trainer.evaluate();
          const emulated::Copies copied = copied_since(before);
          evaluation.validation = double(epoch);  // better than all before
          best.consider(epoch, evaluation, trainer.parameters(), trainer.stream());
          if (epoch <= 2) continue;
          expect_few_copies(copied, training, allowed.copies, what.name);
          EXPECT_LE(emulated::host_waits() - waits, allowed.waits + waited - operations) << what.name;
          EXPECT_EQ(emulated::frees(), freed) << what.name;
          EXPECT_EQ(emulated::allocations(), allocated) << what.name;
        }
        EXPECT_EQ(best.epoch(), 4);
        expect_same_bits_of(best.weights(),
                            HostArray(trainer.parameters().device(), trainer.parameters().values()));
      } catch (const std::exception& error) {
        failures[std::size_t(r)] = error.what();
      }
    });
  for (std::thread& each : threads) each.join();
  for (const std::string& each : failures) EXPECT_EQ(each, "") << what.name;
}

TEST_P(HostWaits, OnceInAnEvaluation) {
  for (const std::string kind : {"graph", "pipegcn", "bns", "cagnet", "sancus", "granndis"})
    for (const int ranks : {1, 2}) {
      const StrategyCase strategy{kind, ranks, {"strategy.kind=" + kind}};
      expect_light_evaluation({kind, job_of(GetParam(), strategy), folder_ / "small"}, {});
    }
}

TEST_P(HostWaits, OnceInAnEvaluationByEveryMetric) {
  write_small_data(folder_ / "two", {.classes = 2});
  // A class's counts come beside those of all, and ROC-AUC is of logits, which the host sorts.
  for (const auto& [metric, allowed] : {std::pair("accuracy", Light{}),
                                        {"f1Micro", Light{}},
                                        {"f1Macro", Light{.copies = 1}},
                                        {"rocAuc", Light{.waits = 2, .copies = 1}}}) {
    const StrategyCase strategy{metric, 1, {std::string("training.metric=") + metric}};
    expect_light_evaluation({metric, job_of(GetParam(), strategy), folder_ / "two"}, allowed);
  }
}

TEST_P(HostWaits, NotForRowsThatALoneRankComputesLogitsFrom) {
  for (const std::string kind : {"minibatch", "p3"}) {
    const Job job =
        job_of(GetParam(), {kind, 1, {"strategy.kind=" + kind, "strategy." + kind + ".batchSize=7"}});
    run_gpu_ranks(1, Gpus::kShared, [&](Communicator& comm) {
      const OpenDevice device = backend().open(0);
      SmallRank rank(comm, job, folder_ / "small", 1, {}, Device::kCuda, *device.stream);
      rank.trainer->train_epoch(1, 0.01);
      rank.trainer->evaluate();  // makes room
      const std::int64_t waits = emulated::host_waits();
      rank.trainer->inference().infer();
      EXPECT_EQ(emulated::host_waits(), waits) << kind;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Models, HostWaits,
                         testing::Values(SmallCase{"gcn", {"model.norm=layer"}},
                                         SmallCase{"sage", {"model.kind=sage", "model.norm=batch"}},
                                         SmallCase{"gat", {"model.kind=gat", "model.norm=layer"}}),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace atl::test
