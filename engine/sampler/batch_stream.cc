#include "sampler/batch_stream.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"

namespace atl {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

MakeBatch batch_maker(Seeds& seeds, Sampler& sampler, FeatureStore* features, RowShares* shares,
                      Trace* trace) {
  auto make = [&seeds, &sampler, features, shares, trace, rows = std::vector<VertexId>()](
                  std::int64_t step, StreamedBatch& into) mutable {
    auto begin = std::chrono::steady_clock::now();
    const auto done = [&](Work work) {
      if (trace != nullptr) trace->sampled(step / seeds.steps() + 1, work, begin);
      begin = std::chrono::steady_clock::now();
    };
    seeds.of_step(step, rows);
    sampler.sample(step, rows, into.batch);
    into.growths = sampler.growths();
    if (shares != nullptr) {
      shares->count(into.batch, into.shares);
      into.growths += shares->growths();
    }
    done(Work::kSampling);
    if (features == nullptr) return;
    const FeatureStore::Counts before = features->counts();
    features->fetch(into.batch.rows(), into.features);
    done(Work::kFetching);
    into.growths += features->growths();
    into.fetched = features->counts();
    into.fetched -= before;
  };
  return [&seeds, make](std::int64_t step, StreamedBatch& into) mutable {
    try {
      make(step, into);
    } catch (const Error& error) {
      // Training may be some steps behind.
      fail("epoch {}, step {}: its batch can't be made: {}", step / seeds.steps() + 1,
           step % seeds.steps() + 1, error.what());
    }
  };
}

/// Slot i holds the batches of steps first + i, first + i + slots, …; makers write to slots of steps before claimed_ that aren't ready,
/// and the trainer reads that of step taken_ − 1.
struct BatchStream::State {
  State(std::vector<MakeBatch> makers, const Options& options)
      : makers_(std::move(makers)),
        options_(options),
        slots_(std::size_t(options.ahead) + 1),
        claimed_(options.first),
        taken_(options.first),
        failed_(options.end),
        makers_growths_(makers_.size()) {
    for (std::size_t i = 0; i < makers_.size(); ++i) threads_.emplace_back([this, i] { run(i); });
  }

  struct Slot {
    StreamedBatch made;
    std::int64_t ready = -1;  // the step whose batch it holds
    Index growths = 0;        // of the batch's memory
  };

  void run(std::size_t maker) {
    while (const auto step = claim()) {
      try {
        make(maker, *step);
      } catch (...) {
        const std::lock_guard guard(lock_);
        if (*step < failed_) failed_ = *step, failure_ = std::current_exception();
      }
      changed_.notify_all();
    }
  }

  /// The trainer's batch keeps its slot. None: no further batch is wanted.
  std::optional<std::int64_t> claim() {
    std::unique_lock lock(lock_);
    const auto has_room = [this] { return claimed_ - taken_ < options_.ahead; };
    const auto is_over = [this] { return stop_ || failure_ || claimed_ == options_.end; };
    changed_.wait(lock, [&] { return closing_ || is_over() || has_room(); });
    if (is_over() || !has_room()) return std::nullopt;
    return claimed_++;
  }

  void make(std::size_t maker, std::int64_t step) {
    Slot& slot = slot_of(step);
    const auto begin = std::chrono::steady_clock::now();
    makers_[maker](step, slot.made);
    const Batch& batch = slot.made.batch;
    const std::lock_guard guard(lock_);
    const Index growths = (batch.growths() - slot.growths) + (slot.made.growths - makers_growths_[maker]);
    slot.growths = batch.growths(), makers_growths_[maker] = slot.made.growths;
    slot.made.grew = growths > 0;
    slot.ready = step;
    figures_.growths += growths;
    figures_.making_seconds += seconds_since(begin);
    figures_.arcs += batch.arcs();
    figures_.rows += Index(batch.rows().size());
    figures_.fetched += slot.made.fetched;
    ++figures_.made;
  }

  const StreamedBatch* take() {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(lock_);
    if (taken_ == options_.end) return nullptr;
    Slot& slot = slot_of(taken_);
    changed_.wait(lock, [&] { return slot.ready == taken_ || failed_ <= taken_; });
    figures_.waited_seconds += seconds_since(begin);
    if (failed_ <= taken_) std::rethrow_exception(failure_);
    ++taken_;
    changed_.notify_all();
    return &slot.made;
  }

  void end(bool by_error) {
    {
      const std::lock_guard guard(lock_);
      (by_error ? stop_ : closing_) = true;
    }
    changed_.notify_all();
    if (by_error && options_.comm != nullptr) options_.comm->abandon();
    for (std::thread& each : threads_) each.join();
  }

  Slot& slot_of(std::int64_t step) {
    return slots_[std::size_t((step - options_.first) % std::int64_t(slots_.size()))];
  }

  const std::vector<MakeBatch> makers_;
  const Options options_;
  const int exceptions_ = std::uncaught_exceptions();
  std::vector<Slot> slots_;
  mutable std::mutex lock_;  // guards what follows
  std::condition_variable changed_;
  std::int64_t claimed_, taken_;  // the next step to be made, and to be asked for
  std::int64_t failed_;           // the first step that couldn't be made …
  std::exception_ptr failure_;    // … and why
  bool stop_ = false, closing_ = false;
  std::vector<Index> makers_growths_;
  Figures figures_;
  std::vector<std::thread> threads_;
};

BatchStream::BatchStream(std::vector<MakeBatch> makers, const Options& options) {
  ATOLL_CHECK(!makers.empty() && options.ahead >= 1 && options.first <= options.end,
              "{} makers, {} ahead, steps {} to {}", makers.size(), options.ahead, options.first,
              options.end);
  state_ = std::make_unique<State>(std::move(makers), options);
}

BatchStream::~BatchStream() {
  state_->end(std::uncaught_exceptions() > state_->exceptions_);
}

const StreamedBatch* BatchStream::next() {
  return state_->take();
}

BatchStream::Figures BatchStream::figures() const {
  const std::lock_guard guard(state_->lock_);
  return state_->figures_;
}

}  // namespace atl
