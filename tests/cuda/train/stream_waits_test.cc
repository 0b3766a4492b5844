// Streams that wait for other ranks, and not the compute thread (--stream-waits on): the same bits, nothing waited for within a step, and a
// lost peer named as ever.
#include <gmock/gmock.h>

#include <atomic>

#include "gpu_training.h"
#include "train/every_strategy.h"
#include "watched_engine.h"

namespace atl::test {
namespace {

using namespace std::chrono_literals;

constexpr int kEpochs = 5;  // streams wait from the third on

/// Every strategy with one model; with the others those that sum and exchange otherwise.
bool is_tried(const std::string& strategy, const std::string& model) {
  return model == "gcn" || strategy == "graph" || strategy == "gnnpipe" || strategy == "p3";
}

class StreamWaits : public OnEmulatedGpus, public testing::WithParamInterface<SmallCase> {
 protected:
  StreamWaits() { write_small_data(folder_ / "small", GetParam().data); }
};

TEST_P(StreamWaits, ComeToTheSameBits) {
  for (const StrategyCase& strategy : every_strategy()) {
    if (!is_tried(strategy.name, GetParam().name)) continue;
    const Gpus gpus = strategy.ranks == 2 ? Gpus::kShared : Gpus::kOwn;
    SCOPED_TRACE(strategy.name);
    const Job job = job_of(GetParam(), strategy);
    emulated::set_seed(43);
    expect_same_bits(train_on_gpu(job, folder_ / "small", gpus, kEpochs, nullptr, true),
                     train_on_gpu(job, folder_ / "small", gpus, kEpochs));
  }
}

TEST_P(StreamWaits, ComeToTheSameBitsWithCudaGraphs) {
  const Job job = job_of(GetParam(), {"graph", 2, {"strategy.kind=graph"}});
  cuda::ReplayCounts counts;
  expect_same_bits(train_on_gpu(job, folder_ / "small", Gpus::kOwn, kEpochs, &counts, true),
                   train_on_gpu(job, folder_ / "small", Gpus::kOwn, kEpochs));
  EXPECT_GT(counts.launches, 0);
}

/// A rank's steps: when it first waits, for whatever, it has launched all that the step has for the GPU.
/// Returns how often its stream waited.
std::int64_t expect_waits_at_the_end(Communicator& comm, const Job& job, const std::filesystem::path& dataset,
                                     const std::string& name) {
  const OpenDevice device = backend().open(comm.rank());
  device.stream->use_gates();
  SmallRank rank(comm, job, dataset, 1, {}, Device::kCuda, *device.stream);
  Trainer& trainer = *rank.trainer;
  std::int64_t seen = 0;
  for (Index step = 1; step <= kEpochs * trainer.steps(); ++step) {
    const auto memory_calls = [] { return emulated::frees() + emulated::allocations(); };
    const std::int64_t called = memory_calls();
    emulated::start_watching_waits();
    trainer.train_step(step, 0.01);
    if (step <= 3 * trainer.steps() || called != memory_calls()) continue;
    ++seen;
    EXPECT_EQ(emulated::launches_since_first_wait(), 0)
        << name << ", rank " << comm.rank() << ", step " << step;
  }
  EXPECT_GT(seen, 0) << name << ": memory grows in every step";
  return emulated::value_waits();
}

/// Whether the host needs numbers within a step: another part each time; how far rows have changed; weights to explain with; with batch
/// norm, how many rows a batch has over all ranks.
bool reads_within(const std::string& strategy, const std::string& model) {
  for (const char* name : {"granndis_batches", "granndis_redrawn", "sancus_bounded", "dgs"})
    if (strategy == name) return true;
  for (const char* of_batches : {"minibatch", "subgraphs", "p3"})
    if (strategy.starts_with(of_batches) && model == "sage") return true;
  return false;
}

TEST_P(StreamWaits, LetTheHostWaitOnlyAtTheEndOfAStep) {
  emulated::set_seed(6);
  std::atomic<std::int64_t> values{0};  // what has come by the time when it is needed isn't waited for
  for (const StrategyCase& strategy : every_strategy()) {
    if (reads_within(strategy.name, GetParam().name) || !is_tried(strategy.name, GetParam().name)) continue;
    const Job job = job_of(GetParam(), strategy);
    auto transports = linked_group(strategy.ranks, strategy.ranks);
    std::vector<std::string> failures(transports.size());
    std::vector<std::thread> threads;
    for (std::size_t r = 0; r < transports.size(); ++r)
      threads.emplace_back([&, r] {
        try {
          Communicator comm(
              std::make_unique<WatchedEngine>(std::move(transports[r]), [](const Operation& each) {
                if (!each.finished) emulated::note_wait();
              }));
          values += expect_waits_at_the_end(comm, job, folder_ / "small", strategy.name);
        } catch (const std::exception& error) {
          failures[r] = error.what();
        }
      });
    for (std::thread& each : threads) each.join();
    for (const std::string& each : failures) EXPECT_EQ(each, "") << strategy.name;
  }
  EXPECT_GT(values, 0);
}

INSTANTIATE_TEST_SUITE_P(Models, StreamWaits,
                         testing::Values(SmallCase{"gcn", {"model.norm=layer"}},
                                         SmallCase{"sage", {"model.kind=sage", "model.norm=batch"}},
                                         SmallCase{"gat", {"model.kind=gat"}}),
                         [](const auto& one) { return one.param.name; });

using StreamWaitsForALostPeer = OnEmulatedGpus;
TEST_F(StreamWaitsForALostPeer, AreEndedWithItsName) {
  write_small_data(folder_ / "small", {});
  const Job job = small_job({"placement.ranks=2"});
  for (const int gpus : {1, 2}) {
    const auto failures = failures_of_ranks(
        linked_group(2, gpus, {}, nullptr, {"a", "b"}), {.timeout = 700ms}, [&](Communicator& comm) {
          const OpenDevice gpu = backend().open(comm.rank());
          gpu.stream->use_gates();
          SmallRank rank(comm, job, folder_ / "small", 1, {}, Device::kCuda, *gpu.stream);
          for (std::int64_t step = 1; step <= 6; ++step) {
            if (comm.rank() == 1 && step == 5) std::this_thread::sleep_for(2500ms);
            rank.trainer->train_step(step, 0.01);
          }
        });
    EXPECT_EQ(failures[0],
              "halo exchange: no message for 0.7 s from or to rank 1 on b; check that it still runs and that "
              "its link is up");
    EXPECT_NE(failures[1], "");
  }
}

}  // namespace
}  // namespace atl::test
