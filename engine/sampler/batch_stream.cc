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
#include "comm/stream_watcher.h"

namespace atl {
namespace {

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

MakeBatch batch_maker(StepSeeds& seeds, Sampler& sampler, const BatchMakers& makers) {
  auto make = [&seeds, &sampler, makers, rows = std::vector<VertexId>(), edges = std::vector<VertexId>()](
                  std::int64_t step, StreamedBatch& into) mutable {
    const auto [features, columns, touched, shares, pairs, masks, history, trace] = makers;
    if (masks != nullptr) {
      const BatchMasks::Chosen chosen = masks->of(step);
      sampler.draw_by(chosen.vertices);
      if (features != nullptr) features->choose(chosen.columns);
    }
    if (history != nullptr) history->begin(step);
    auto begin = std::chrono::steady_clock::now();
    const auto done = [&, trace = trace](Work work) {
      if (trace != nullptr) trace->sampled(step / seeds.steps() + 1, work, begin);
      begin = std::chrono::steady_clock::now();
    };
    seeds.of_step(step, pairs == nullptr ? rows : edges);
    if (pairs != nullptr) pairs->of_step(step, edges, Index(seeds.size(step)), into.pairs, rows);
    sampler.sample(step, rows, into.batch);
    into.batch.total = seeds.size(step);
    seeds.weigh(rows, into.batch.loss_weights);
    into.reallocations = sampler.reallocations() + (pairs == nullptr ? 0 : pairs->reallocations());
    if (history != nullptr) {
      history->exchange(into.batch, into.pushes);
      into.reallocations += history->reallocations();
    }
    if (shares != nullptr) {
      shares->count(into.batch, into.shares);
      into.reallocations += shares->reallocations();
    }
    done(Work::kSampling);
    if (columns != nullptr) {
      columns->push(into.batch, into.group, into.features);
      into.features.transpose(into.group.first_destinations());
      into.reallocations += columns->reallocations();
      into.fetched = {};
      into.fetched.own = into.group.all_rows();
      done(Work::kFetching);
    }
    if (features == nullptr) return;
    const FeatureStore::Counts before = features->counts();
    features->fetch(into.batch.rows(), into.sources, into.features);
    into.features.transpose(into.batch.first_destinations());
    if (touched != nullptr) touched->find(into.features, into.touched);
    done(Work::kFetching);
    into.reallocations += features->reallocations();
    into.fetched = features->counts();
    into.fetched -= before;
  };
  return [&seeds, make](std::int64_t step, StreamedBatch& into) mutable {
    try {
      make(step, into);
    } catch (const Error& error) {
      // The message names the step, because training may be some steps behind.
      fail("epoch {}, step {}: its batch can't be made: {}", step / seeds.steps() + 1,
           step % seeds.steps() + 1, error.what());
    }
  };
}

/// Slot i holds the batches of steps first + i, first + i + slots, … Makers write to the slots of the steps
/// before claimed_ that aren't ready yet. The trainer reads the slots of the last `held` steps before taken_.
struct BatchStream::State {
  State(std::vector<MakeBatch> makers, const Options& options)
      : makers_(std::move(makers)),
        options_(options),
        watcher_(options.comm == nullptr ? nullptr : options.comm->stream_watcher()),
        slots_(std::size_t(options.ahead + options.held)),
        claimed_(options.first),
        taken_(options.first),
        failed_(options.end),
        makers_growths_(makers_.size()) {
    if (watcher_ != nullptr) watcher_->opens(int(makers_.size()), options.ahead);
    for (std::size_t i = 0; i < makers_.size(); ++i) threads_.emplace_back([this, i] { run(i); });
  }

  struct Slot {
    StreamedBatch made;
    std::int64_t ready = -1;  // the step whose batch it holds
    Index reallocations = 0;  // of the batch's memory
  };

  void run(std::size_t maker) {
    if (watcher_ != nullptr) watcher_->begins(int(maker));
    while (const auto step = claim(int(maker))) {
      try {
        make(maker, *step);
      } catch (...) {
        const std::lock_guard guard(lock_);
        if (*step < failed_) failed_ = *step, failure_ = std::current_exception();
      }
      stir();
    }
    if (watcher_ != nullptr) watcher_->ends(int(maker));
  }

  void stir() {
    if (watcher_ != nullptr) watcher_->stirs();
    changed_.notify_all();
  }

  /// Waits until the next step's slot is free, and claims the step. Returns none if no further batch is
  /// wanted.
  std::optional<std::int64_t> claim(int maker) {
    std::unique_lock lock(lock_);
    const auto has_room = [this] { return claimed_ - taken_ < options_.ahead; };
    const auto is_over = [this] { return stop_ || failure_ || claimed_ == options_.end; };
    stand_until(watcher_, changed_, lock, maker, [&] { return closing_ || is_over() || has_room(); });
    if (is_over() || !has_room()) return std::nullopt;
    return claimed_++;
  }

  void make(std::size_t maker, std::int64_t step) {
    Slot& slot = slot_of(step);
    const auto begin = std::chrono::steady_clock::now();
    if (watcher_ != nullptr) watcher_->makes(int(maker), step);
    makers_[maker](step, slot.made);
    if (watcher_ != nullptr) watcher_->made(int(maker));
    const Batch& batch = slot.made.batch;
    const std::lock_guard guard(lock_);
    const Index of_slot = batch.reallocations() + slot.made.group.reallocations() +
                          slot.made.pairs.reallocations() + slot.made.pushes.reallocations() +
                          slot.made.sources.reallocations() + slot.made.touched.reallocations() +
                          slot.made.features.reallocations();
    const Index reallocations =
        (of_slot - slot.reallocations) + (slot.made.reallocations - makers_growths_[maker]);
    slot.reallocations = of_slot, makers_growths_[maker] = slot.made.reallocations;
    slot.made.grew = reallocations > 0;
    slot.ready = step;
    figures_.reallocations += reallocations;
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
    stand_until(watcher_, changed_, lock, StreamWatcher::kTrains,
                [&] { return slot.ready == taken_ || failed_ <= taken_; });
    figures_.waited_seconds += seconds_since(begin);
    if (failed_ <= taken_) std::rethrow_exception(failure_);
    ++taken_;
    lock.unlock();
    if (watcher_ != nullptr) watcher_->takes();
    stir();
    return &slot.made;
  }

  void end(bool by_error) {
    {
      const std::lock_guard guard(lock_);
      (by_error ? stop_ : closing_) = true;
    }
    stir();
    if (by_error && options_.comm != nullptr) options_.comm->abandon();
    if (watcher_ != nullptr) watcher_->stands(StreamWatcher::kTrains);
    for (std::thread& each : threads_) each.join();
    if (watcher_ != nullptr) watcher_->goes_on(StreamWatcher::kTrains);
  }

  Slot& slot_of(std::int64_t step) {
    return slots_[std::size_t((step - options_.first) % std::int64_t(slots_.size()))];
  }

  const std::vector<MakeBatch> makers_;
  const Options options_;
  StreamWatcher* const watcher_;  // null: nobody watches
  const int exceptions_ = std::uncaught_exceptions();
  std::vector<Slot> slots_;
  mutable std::mutex lock_;  // guards what follows
  std::condition_variable changed_;
  std::int64_t claimed_, taken_;  // the next step to be made, and the next to be asked for
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
