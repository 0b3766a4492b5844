#include "plan/simulate/record.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "base/threads.h"
#include "comm/communicator.h"
#include "plan/bench/stopwatch.h"
#include "plan/simulate/recorder.h"
#include "train/learning_rate.h"
#include "train/telemetry/record.h"
#include "train/trainer.h"

namespace atl {
namespace {

/// What a core loses when its second-level cache holds another rank's data: the time to read as much anew, less the time to read it where
/// it is.
double measured_refill_seconds() {
  const long size = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const std::size_t words = std::size_t(size > 0 ? size : 1 << 20) / sizeof(double);
  constexpr std::size_t kOthers = 8;  // times as much passes through meanwhile
  std::vector<double> mine(words, 1.0), others(words * kOthers, 1.0);
  volatile double kept = 0;
  const auto read = [&](const std::vector<double>& all) {
    const double begin = seconds_now();
    double sum = 0;
    for (const double each : all) sum += each;
    kept = kept + sum;
    return seconds_now() - begin;
  };
  std::vector<double> lost;
  for (int i = 0; i < 5; ++i) {
    read(others);
    const double cold = read(mine);
    lost.push_back(std::max(0.0, cold - std::min(read(mine), read(mine))));
  }
  return median(lost);
}

class Run {
 public:
  Run(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, const RecordOptions& options)
      : job_(job),
        dataset_(dataset),
        prepared_(prepared),
        options_(options),
        recorder_(options.hosts, options.at_once, options.threads == 1),
        losses_(options.hosts.size(), std::vector<double>(std::size_t(options.epochs))),
        failures_(options.hosts.size()) {}

  Recording record() {
    {
      std::vector<std::jthread> threads;
      for (Rank rank = 0; rank < Rank(losses_.size()); ++rank)
        threads.emplace_back([this, rank] { guard(rank); });
    }
    // A rank that had to give up says that it did: the reason is told first.
    for (const bool own : {true, false})
      for (const Failure& failure : failures_)
        if (failure.what && failure.own == own) std::rethrow_exception(failure.what);
    return gathered();
  }

 private:
  struct Failure {
    std::exception_ptr what;
    bool own = true;  // and not that another rank had given up
  };

  void guard(Rank rank) {
    try {
      run_rank(rank);
    } catch (const std::exception& error) {
      const bool own = std::string(error.what()).find("has given up") == std::string::npos;
      failures_[std::size_t(rank)] = {std::current_exception(), own};
    }
  }

  void run_rank(Rank rank) {
    const Recorder::Turn turn(recorder_, rank);
    ThreadPool pool(options_.threads);
    Workspace workspace;
    Context ctx{Device::kCpu, &pool, &workspace};
    RankData data(job_, dataset_, prepared_, rank, options_.parts);
    Trace trace(2);  // asked for its label alone
    Communicator comm(recorder_.engine(rank), &trace);
    data.count(comm);
    Trainer trainer(ctx, comm, job_, data);
    const TrainingSpec& t = job_.training;
    for (Index epoch = 1; epoch <= options_.epochs; ++epoch) {
      recorder_.begin_epoch(rank, epoch, trace);
      trace.begin_epoch(epoch);
      const double rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
      losses_[std::size_t(rank)][std::size_t(epoch - 1)] = trainer.train_epoch(epoch, rate);
      if (trainer.step_vertices() > 0)
        vertices_ = trainer.step_vertices();  // the same wherever there are logits
    }
    recorder_.stop(rank);
    comm.barrier();
  }

  Recording gathered() {
    Recording recording{.epochs = options_.epochs, .at_once = options_.at_once};
    recording.losses.assign(std::size_t(options_.epochs), 0);
    double spread = 0;
    for (Rank rank = 0; rank < Rank(losses_.size()); ++rank) {
      RankRecording& of_rank = recording.ranks.emplace_back(recorder_.take(rank));
      spread += settle_costs(of_rank);
      for (std::size_t e = 0; e < recording.losses.size(); ++e)
        recording.losses[e] += losses_[std::size_t(rank)][e];
    }
    for (double& loss : recording.losses) loss /= vertices_;
    recording.spread = spread / double(losses_.size());
    recording.turns = double(recorder_.turns()) / double(options_.epochs);
    recording.refill_seconds = measured_refill_seconds();
    return recording;
  }

  const Job& job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  const RecordOptions& options_;
  Recorder recorder_;
  std::vector<std::vector<double>> losses_;  // (ranks, epochs): sums
  std::atomic<double> vertices_ = 1;         // that take part in the loss
  std::vector<Failure> failures_;            // (ranks)
};

}  // namespace

Recording record_run(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const RecordOptions& options) {
  return Run(job, dataset, prepared, options).record();
}

}  // namespace atl
