// Ranks that run by themselves: each operation is through at once, and nothing is in what has come.
#include <atomic>
#include <exception>
#include <mutex>
#include <numeric>
#include <span>
#include <thread>

#include "simulate/lone_engine.h"
#include "simulate/processors.h"
#include "simulate/recorded_rank.h"

namespace atl {
namespace {

/// Ranks are taken by as many threads as compute at once.
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
  std::vector<RankRecording> recorded_;  // as wanted_
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
