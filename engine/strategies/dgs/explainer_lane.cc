#include "strategies/dgs/explainer_lane.h"

#include <array>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "comm/stream_watcher.h"

namespace atl {

struct ExplainerLane::State {
  State(Communicator& comm, Explain explain)
      : explain_(std::move(explain)), trace_(comm.trace()), watcher_(comm.stream_watcher()) {
    if (watcher_ != nullptr) watcher_->opens_explainer();
    thread_ = std::thread([this] { run(); });
  }

  void run() {
    if (watcher_ != nullptr) watcher_->begins(StreamWatcher::kExplains);
    while (claim()) {
      const auto begin = std::chrono::steady_clock::now();
      if (watcher_ != nullptr) watcher_->makes(StreamWatcher::kExplains, begun_);
      std::exception_ptr failure;
      try {
        explain_(begun_, results_[std::size_t(begun_ % 2)], stop_);
      } catch (...) {
        failure = std::current_exception();
      }
      if (watcher_ != nullptr) watcher_->made(StreamWatcher::kExplains);
      if (trace_ != nullptr) trace_->explained(epoch_, begin);
      const std::lock_guard guard(lock_);
      ended_ = begun_, failure_ = failure;
      ++counts_.explanations;
      counts_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      stir();
    }
    if (watcher_ != nullptr) watcher_->ends(StreamWatcher::kExplains);
  }

  /// Waits for an explanation to make. False where the thread is to end.
  bool claim() {
    std::unique_lock lock(lock_);
    stand_until(watcher_, changed_, lock, StreamWatcher::kExplains,
                [this] { return stop_ || ended_ < begun_; });
    return !stop_;
  }

  void begin(std::int64_t number, std::int64_t epoch) {
    const std::lock_guard guard(lock_);
    ATOLL_CHECK(ended_ == begun_, "explanation {} begins while {} is under way", number, begun_);
    if (watcher_ != nullptr) watcher_->begins_explanation(number);
    begun_ = number, ended_ = number - 1, epoch_ = epoch;
    stir();
  }

  void forget() {
    std::unique_lock lock(lock_);
    stand_until(watcher_, changed_, lock, StreamWatcher::kTrains, [this] { return ended_ == begun_; });
    begun_ = ended_ = -1;
    failure_ = nullptr;
  }

  const Explanation* result(std::int64_t number) {
    std::unique_lock lock(lock_);
    if (watcher_ != nullptr) watcher_->wants_explanation(number);
    stand_until(watcher_, changed_, lock, 0,
                [&] { return ended_ >= number || (is_closed_ && begun_ < number); });
    if (failure_) std::rethrow_exception(failure_);
    return ended_ >= number ? &results_[std::size_t(number % 2)] : nullptr;
  }

  void stir() {
    if (watcher_ != nullptr) watcher_->stirs();
    changed_.notify_all();
  }

  const Explain explain_;
  Trace* const trace_;            // null: no trace is wanted
  StreamWatcher* const watcher_;  // null: none; told under the lock
  std::mutex lock_;               // guards the members below
  std::condition_variable changed_;
  std::int64_t begun_ = -1, ended_ = -1, epoch_ = 0;
  std::exception_ptr failure_;
  Counts counts_;
  bool is_closed_ = false;
  std::atomic<bool> stop_{false};
  std::array<Explanation, 2> results_;  // by number; the thread writes the one under way
  std::thread thread_;
};

ExplainerLane::ExplainerLane(Communicator& comm, Explain explain)
    : state_(std::make_unique<State>(comm, std::move(explain))) {}

ExplainerLane::~ExplainerLane() {
  {
    const std::lock_guard guard(state_->lock_);
    state_->stop_ = true;
    state_->stir();
  }
  if (state_->watcher_ != nullptr) state_->watcher_->stands(StreamWatcher::kTrains);
  state_->thread_.join();
  if (state_->watcher_ != nullptr) state_->watcher_->goes_on(StreamWatcher::kTrains);
}

void ExplainerLane::begin(std::int64_t number, std::int64_t epoch) {
  state_->begin(number, epoch);
}

void ExplainerLane::put(std::int64_t number, Explanation known) {
  const std::lock_guard guard(state_->lock_);
  state_->results_[std::size_t(number % 2)] = std::move(known);
  state_->begun_ = state_->ended_ = number;
}

ExplainerLane::Counts ExplainerLane::counts() {
  const std::lock_guard guard(state_->lock_);
  return state_->counts_;
}

const Explanation* ExplainerLane::result(std::int64_t number) {
  return state_->result(number);
}

const Explanation* ExplainerLane::known(std::int64_t number) {
  const std::lock_guard guard(state_->lock_);
  const bool is_known = number >= 0 && number <= state_->ended_ && number + 2 > state_->begun_;
  return is_known ? &state_->results_[std::size_t(number % 2)] : nullptr;
}

void ExplainerLane::close() {
  const std::lock_guard guard(state_->lock_);
  state_->is_closed_ = true;
  state_->stir();
}

void ExplainerLane::open() {
  const std::lock_guard guard(state_->lock_);
  state_->is_closed_ = false;
}

void ExplainerLane::forget() {
  state_->forget();
}

}  // namespace atl
