#include "plan/simulate/record.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <span>
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
      try {
        for (Rank rank = 0; rank < Rank(losses_.size()); ++rank)
          threads.emplace_back([this, rank] { guard(rank); });
      } catch (...) {
        recorder_.give_up(Rank(threads.size()));  // those that are there would wait for the others
        throw;
      }
    }
    if (const Rank first = recorder_.first_to_give_up(); first >= 0)
      std::rethrow_exception(failures_[std::size_t(first)]);
    for (const std::exception_ptr& failure : failures_)
      if (failure) std::rethrow_exception(failure);
    return gathered();
  }

 private:
  void guard(Rank rank) {
    try {
      run_rank(rank);
    } catch (...) {
      failures_[std::size_t(rank)] = std::current_exception();
      recorder_.give_up(rank);
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
    const Recorder::Guard here(recorder_, rank);
    const TrainingSpec& t = job_.training;
    for (Index epoch = 1; epoch <= options_.epochs; ++epoch) {
      recorder_.begin_epoch(rank, epoch, trace);
      trace.begin_epoch(epoch);
      const double rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
      losses_[std::size_t(rank)][std::size_t(epoch - 1)] = trainer.train_epoch(epoch, rate);
      std::array<double, 4> told{};  // an epoch ends with a sum over all ranks (train/epoch_loop.h)
      comm.all_reduce(Traffic::kStatistics, std::span<double>(told));
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
  std::vector<std::vector<double>> losses_;   // (ranks, epochs): sums
  std::atomic<double> vertices_ = 1;          // that take part in the loss
  std::vector<std::exception_ptr> failures_;  // (ranks)
};

}  // namespace

Recording record_run(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const RecordOptions& options) {
  return Run(job, dataset, prepared, options).record();
}

}  // namespace atl
