#include "simulate/record.h"

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>

#include "simulate/recorded_rank.h"
#include "simulate/recorder.h"
#include "telemetry/record.h"
#include "tensor/rates.h"

namespace atl {
namespace {

/// Seconds that a core loses when its second-level cache holds another rank's data: the time to read the
/// cache's size from memory, less the time to read it from the cache.
double measured_refill_seconds() {
  const long size = sysconf(_SC_LEVEL2_CACHE_SIZE);
  const std::size_t words = std::size_t(size > 0 ? size : 1 << 20) / sizeof(double);
  constexpr std::size_t kOthers = 8;  // how many times the cache's size is read in between
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
        losses_(options.hosts.size()),
        failures_(options.hosts.size()) {}

  Recording record() {
    {
      std::vector<std::jthread> threads;
      try {
        for (Rank rank = 0; rank < Rank(losses_.size()); ++rank)
          threads.emplace_back([this, rank] { guard(rank); });
      } catch (...) {
        recorder_.give_up(Rank(threads.size()));  // the ranks already started would wait for the others
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
    RecordedRank recorded(job_, dataset_, prepared_, rank, options_, recorder_.engine(rank));
    const Recorder::Guard here(recorder_, rank);
    losses_[std::size_t(rank)] = recorded.train(recorder_.notes(rank));
  }

  Recording gathered() {
    Recording recording{.epochs = options_.epochs, .at_once = options_.at_once};
    double spread = 0;
    for (Rank rank = 0; rank < Rank(losses_.size()); ++rank) {
      RankRecording& of_rank = recording.ranks.emplace_back(recorder_.take(rank));
      spread += settle_costs(of_rank);
    }
    // The losses are the same on every rank with logits.
    for (const EpochLoss& loss : *std::ranges::find_if(
             losses_, [](const std::vector<EpochLoss>& epochs) { return epochs.front().vertices > 0; }))
      recording.losses.push_back(loss.sum / loss.vertices);
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
  std::vector<std::vector<EpochLoss>> losses_;  // (ranks, epochs)
  std::vector<std::exception_ptr> failures_;    // (ranks)
};

}  // namespace

Recording record_run(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const RecordOptions& options) {
  return Run(job, dataset, prepared, options).record();
}

// Runs ranks by themselves: each operation finishes at once, and messages arrive without contents.

namespace {

/// Records ranks, which threads take one by one; there are as many threads as may compute at once.
class LoneRanks {
 public:
  LoneRanks(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
            const RecordOptions& options, std::span<const Rank> wanted, const std::function<void(Rank)>& said)
      : job_(job),
        dataset_(dataset),
        prepared_(prepared),
        options_(options),
        wanted_(wanted),
        said_(said),
        recorded_(wanted.size()) {}

  std::vector<RankRecording> record() {
    {
      std::vector<std::jthread> threads;
      for (int turn = 0; turn < options_.at_once; ++turn)
        threads.emplace_back([this, turn] { take_ranks(turn); });
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(recorded_);
  }

 private:
  void take_ranks(int turn) {
    if (options_.threads == 1) stay_on_processor(turn, processors_);
    try {
      for (std::size_t i = next_++; i < wanted_.size(); i = next_++) {
        const Rank rank = wanted_[i];
        RankNotes notes(options_.threads == 1);
        RecordedRank recorded(job_, dataset_, prepared_, rank, options_,
                              make_lone_engine(rank, options_.hosts, notes, true));
        recorded.train(notes);
        recorded_[i] = notes.take();
        const std::lock_guard guard(lock_);
        if (said_) said_(rank);
      }
    } catch (...) {
      const std::lock_guard guard(lock_);
      if (!failure_) failure_ = std::current_exception();
      next_ = wanted_.size();
    }
  }

  const Job& job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  const RecordOptions& options_;
  const std::vector<int> processors_ = allowed_processors();
  const std::span<const Rank> wanted_;
  const std::function<void(Rank)>& said_;
  std::vector<RankRecording> recorded_;  // in the order of wanted_
  std::atomic<std::size_t> next_ = 0;
  std::mutex lock_;
  std::exception_ptr failure_;
};

}  // namespace

std::vector<RankRecording> record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                                        const RecordOptions& options, std::span<const Rank> ranks,
                                        double& spread, const std::function<void(Rank)>& said) {
  std::vector<RankRecording> recorded = LoneRanks(job, dataset, prepared, options, ranks, said).record();
  for (RankRecording& rank : recorded) spread += settle_costs(rank) / double(ranks.size());
  return recorded;
}

Recording record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                       const RecordOptions& options, const std::function<void(Rank)>& said) {
  Recording recording{.epochs = options.epochs, .at_once = options.at_once};
  std::vector<Rank> all(options.hosts.size());
  std::iota(all.begin(), all.end(), 0);
  recording.ranks = record_alone(job, dataset, prepared, options, all, recording.spread, said);
  return recording;
}

}  // namespace atl
