#include "sampler/batch_stream.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
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
    features->fetch(into.batch.rows(), into.features);
    done(Work::kFetching);
    into.growths += features->growths();
    into.fetched = features->counts();
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

/// Slot i holds the batches of steps first + i, first + i + slots, …; the thread writes to slots of steps made_ … and the trainer
/// reads that of step taken_ − 1.
struct BatchStream::State {
  State(MakeBatch make, const Options& options)
      : make_(std::move(make)),
        options_(options),
        slots_(std::size_t(options.ahead) + 1),
        made_(options.first),
        taken_(options.first),
        thread_([this] { run(); }) {}

  void run() {
    try {
      while (wait_for_room()) make_next();
    } catch (...) {
      const std::lock_guard guard(lock_);
      failure_ = std::current_exception();
    }
    changed_.notify_all();
  }

  /// The trainer's batch keeps its slot. False: no further batch is wanted.
  bool wait_for_room() {
    std::unique_lock lock(lock_);
    const auto has_room = [this] { return made_ - taken_ < options_.ahead; };
    changed_.wait(lock, [&] { return stop_ || closing_ || made_ == options_.end || has_room(); });
    return !stop_ && made_ < options_.end && has_room();
  }

  void make_next() {
    StreamedBatch& slot = slot_of(made_);
    const auto begin = std::chrono::steady_clock::now();
    make_(made_, slot);
    Index growths = slot.growths;
    for (const StreamedBatch& each : slots_) growths += each.batch.growths();
    const std::lock_guard guard(lock_);
    slot.grew = growths > figures_.growths;
    figures_.making_seconds += seconds_since(begin);
    figures_.arcs += slot.batch.arcs();
    figures_.rows += Index(slot.batch.rows().size());
    figures_.growths = growths;
    figures_.fetched = slot.fetched;
    ++figures_.made;
    ++made_;
    changed_.notify_all();
  }

  const StreamedBatch* take() {
    const auto begin = std::chrono::steady_clock::now();
    std::unique_lock lock(lock_);
    if (taken_ == options_.end) return nullptr;
    changed_.wait(lock, [this] { return made_ > taken_ || failure_; });
    figures_.waited_seconds += seconds_since(begin);
    if (made_ == taken_) std::rethrow_exception(failure_);
    const StreamedBatch* const batch = &slot_of(taken_++);
    changed_.notify_all();
    return batch;
  }

  void end(bool by_error) {
    {
      const std::lock_guard guard(lock_);
      (by_error ? stop_ : closing_) = true;
    }
    changed_.notify_all();
    if (by_error && options_.comm != nullptr) options_.comm->abandon();
    thread_.join();
  }

  StreamedBatch& slot_of(std::int64_t step) {
    return slots_[std::size_t((step - options_.first) % std::int64_t(slots_.size()))];
  }

  const MakeBatch make_;
  const Options options_;
  const int exceptions_ = std::uncaught_exceptions();
  std::vector<StreamedBatch> slots_;
  mutable std::mutex lock_;  // guards what follows
  std::condition_variable changed_;
  std::int64_t made_, taken_;  // the next step to be made, and to be asked for
  bool stop_ = false, closing_ = false;
  std::exception_ptr failure_;
  Figures figures_;
  std::thread thread_;
};

BatchStream::BatchStream(MakeBatch make, const Options& options) {
  ATOLL_CHECK(options.ahead >= 1 && options.first <= options.end, "{} ahead, steps {} to {}", options.ahead,
              options.first, options.end);
  state_ = std::make_unique<State>(std::move(make), options);
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
