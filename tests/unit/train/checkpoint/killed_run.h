// Runs of a small job in a test's own folders, killed or stopped at a given point, and resumed.
#pragma once

#include <gmock/gmock.h>

#include "train/checkpoint/safetensors.h"
#include "train/session.h"
#include "train/small_job.h"

namespace atl {

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

/// Keeps the record. Dies at the end of an epoch, or after a step within one, as by SIGKILL; or asks for a
/// stop there.
class Watcher final : public RunObserver {
 public:
  explicit Watcher(Reached kill_after = {}, Reached stop_after = {})
      : kill_(kill_after), stop_at_(stop_after) {}
  void on_step(const StepRecord& s) override {
    if (Reached{s.epoch - 1, s.step} == kill_) throw Killed();
    if (Reached{s.epoch - 1, s.step + 1} == stop_at_) stop = true;
  }
  void on_epoch(const EpochRecord& e) override {
    if (Reached{e.epoch} == kill_) throw Killed();
    if (Reached{e.epoch + 1} == stop_at_ || Reached{e.epoch, 1} == stop_at_) stop = true;
  }
  void on_result(const RunRecord& run) override { record = run; }
  void on_message(MessageLevel, const std::string& text) override { messages.push_back(text); }
  RunRecord record;
  std::vector<std::string> messages;
  std::atomic<bool> stop = false;

 private:
  Reached kill_, stop_at_;
};

/// A small data set and runs on it, each with an output folder of its own.
class KilledRuns : public testing::Test {
 protected:
  KilledRuns() {
    write_small_data(folder_ / "small", {});
    job_ = small_job({"training.epochs=17", "training.evaluateEvery=3", "training.checkpoint={every: 2}",
                      "training.optimizer={kind: adam, learningRate: 0.05}"});
  }

  // Overridden by tests on devices.
  virtual void run_all(int ranks, const std::function<void(Communicator&)>& rank_main) {
    run_ranks(ranks, rank_main);
  }
  virtual RankDevice device_of(Rank) { return {}; }
  // Overridden by tests that listen in a run's place, beside the watcher or before it.
  virtual RunObserver& listener(Watcher& watcher, [[maybe_unused]] const std::filesystem::path& output) {
    return watcher;
  }

  /// Returns rank 0's record. Kills or stops the run after an epoch (0: never).
  RunRecord run(const std::string& output, int ranks, Index kill_after = 0, Index stop_after = 0) {
    return run_until(output, ranks, {kill_after, 0}, {stop_after, 0});
  }
  RunRecord run_until(const std::string& output, int ranks, Reached kill_after, Reached stop_after) {
    std::filesystem::create_directories(folder_ / output);
    job_.placement.ranks = ranks;
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job_, ranks), graph_transforms(job_),
                        training_marks(dataset, job_));
    RunRecord record;
    try {
      run_all(ranks, [&](Communicator& comm) {
        Watcher watcher(kill_after, stop_after);
        const RankDevice device = device_of(comm.rank());
        SessionOptions o;
        o.job = job_;
        o.job_yaml = "small";
        o.dataset = folder_ / "small";
        o.output = comm.rank() == 0 ? folder_ / output : elsewhere_;
        o.device = &device;
        o.observer = comm.rank() == 0 ? &listener(watcher, o.output) : &watcher;
        o.stop = &watcher.stop;
        run_session(comm, o);
        if (comm.rank() == 0) record = watcher.record, messages_ = watcher.messages;
      });
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("killed"));
    }
    return record;
  }

  /// The weights of the model that a run has saved, tensor after tensor.
  std::vector<double> weights(const std::string& output) {
    const SafetensorsFile file = SafetensorsFile::read(folder_ / output / "model.safetensors");
    std::vector<double> all;
    for (const TensorView& t : file.tensors()) {
      all.resize(all.size() + std::size_t(t.count()));
      file.copy_to(t.name, t.shape, all.data() + all.size() - t.count());
    }
    return all;
  }

  /// Checks that only the first rank made an output folder.
  ~KilledRuns() override { EXPECT_FALSE(std::filesystem::exists(elsewhere_)); }

  TemporaryFolder folder_;
  const std::filesystem::path elsewhere_ = folder_ / "not on this machine";
  Job job_;
  std::vector<std::string> messages_;  // of the last run, on rank 0
};

}  // namespace atl
