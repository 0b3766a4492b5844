// Ranks that run by themselves: each operation is through at once, and nothing is in what has come.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <thread>

#include "plan/dry_transport.h"
#include "plan/simulate/processors.h"
#include "plan/simulate/recorded_rank.h"

namespace atl {
namespace {

class LoneEngine final : public ProgressEngine {
 public:
  LoneEngine(Rank rank, const std::vector<std::string>& hosts, RankNotes& notes)
      : transport_(make_dry_transport(rank, hosts)), notes_(notes) {}

  Transport& transport() override { return *transport_; }
  void enqueue(std::shared_ptr<Operation> operation) override {
    notes_.start(*operation);
    fill(*operation);
    operation->finished.store(true, std::memory_order_release);
    notes_.go_on();
  }
  void wait(Operation& operation) override {
    notes_.wait(operation);
    notes_.go_on();
  }
  void abandon() override {}
  double cpu_seconds() const override { return 0; }
  double busy_seconds() const override { return 0; }

 private:
  /// With numbers that compute as fast as any, until costs are noted: later it would warm the cache for what is measured.
  void fill(const Operation& operation) {
    if (notes_.epoch() > 1) return;
    for (const Message& m : operation.receives) std::memset(m.data, 0, std::size_t(m.bytes));
  }

  std::unique_ptr<Transport> transport_;
  RankNotes& notes_;
};

/// Ranks are taken by as many threads as compute at once.
class LoneRanks {
 public:
  LoneRanks(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
            const RecordOptions& options, const std::function<void(Rank)>& said)
      : job_(job),
        dataset_(dataset),
        prepared_(prepared),
        options_(options),
        said_(said),
        ranks_(options.hosts.size()) {}

  std::vector<RankRecording> record() {
    {
      std::vector<std::jthread> threads;
      for (int turn = 0; turn < options_.at_once; ++turn)
        threads.emplace_back([this, turn] { take_ranks(turn); });
    }
    if (failure_) std::rethrow_exception(failure_);
    return std::move(ranks_);
  }

 private:
  void take_ranks(int turn) {
    if (options_.threads == 1) stay_on_processor(turn, processors_);
    try {
      for (std::size_t rank = next_++; rank < ranks_.size(); rank = next_++) {
        RankNotes notes(options_.threads == 1);
        RecordedRank recorded(job_, dataset_, prepared_, Rank(rank), options_,
                              std::make_unique<LoneEngine>(Rank(rank), options_.hosts, notes));
        recorded.train(notes);
        ranks_[rank] = notes.take();
        const std::lock_guard guard(lock_);
        if (said_) said_(Rank(rank));
      }
    } catch (...) {
      const std::lock_guard guard(lock_);
      if (!failure_) failure_ = std::current_exception();
      next_ = ranks_.size();
    }
  }

  const Job& job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  const RecordOptions& options_;
  const std::function<void(Rank)>& said_;
  const std::vector<int> processors_ = allowed_processors();
  std::vector<RankRecording> ranks_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex lock_;
  std::exception_ptr failure_;
};

}  // namespace

Recording record_alone(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                       const RecordOptions& options, const std::function<void(Rank)>& said) {
  Recording recording{.ranks = LoneRanks(job, dataset, prepared, options, said).record(),
                      .epochs = options.epochs,
                      .at_once = options.at_once};
  for (RankRecording& rank : recording.ranks)
    recording.spread += settle_costs(rank) / double(recording.ranks.size());
  return recording;
}

}  // namespace atl
