// Told what a rank's threads do: which part of an epoch the compute thread is at, and what those do that make
// batches ahead of it, and the one that explains. Whoever records ranks gives these turns by it, and notes
// what they do, as it does for the compute thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace atl {

/// Calls come from the threads themselves. `maker`: kTrains, kExplains, or the number of a thread that makes
/// batches.
class StreamWatcher {
 public:
  virtual ~StreamWatcher() = default;
  static constexpr int kTrains = -1, kExplains = -2;

  /// By the thread that trains: what follows is of this chunk, or this batch, of its epoch, which every epoch
  /// has; −1: of none.
  virtual void works_on([[maybe_unused]] int unit) {}

  /// By the thread that trains, before the others begin: so many, which may be so many batches ahead.
  virtual void opens([[maybe_unused]] int makers, [[maybe_unused]] int ahead) {}
  virtual void begins([[maybe_unused]] int maker) {}
  virtual void ends([[maybe_unused]] int maker) {}

  /// By the thread that trains, before the one that explains begins.
  virtual void opens_explainer() {}
  /// By the thread that trains: that one may go on with an explanation of this number. By the one that makes
  /// batches: it needs that.
  virtual void begins_explanation([[maybe_unused]] std::int64_t number) {}
  virtual void wants_explanation([[maybe_unused]] std::int64_t number) {}

  /// It makes the batch of a step, or the explanation of a number, until made().
  virtual void makes([[maybe_unused]] int maker, [[maybe_unused]] std::int64_t step) {}
  virtual void made([[maybe_unused]] int maker) {}
  /// The thread that trains goes on with the next batch.
  virtual void takes() {}

  /// It is about to stand until another of its rank's threads goes on …
  virtual void stands([[maybe_unused]] int maker) {}
  /// … has changed what others may stand for, …
  virtual void stirs() {}
  /// … and goes on. May take long: others compute.
  virtual void goes_on([[maybe_unused]] int maker) {}
};

/// Waits, with the lock, until ready(); leaves the lock while a watcher, null where nobody watches, lets
/// others compute before the thread goes on.
template <class Ready>
void stand_until(StreamWatcher* watcher, std::condition_variable& changed, std::unique_lock<std::mutex>& lock,
                 int who, Ready ready) {
  while (!ready()) {
    if (watcher != nullptr) watcher->stands(who);
    changed.wait(lock, ready);
    if (watcher == nullptr) return;
    lock.unlock();
    watcher->goes_on(who);
    lock.lock();
  }
}

}  // namespace atl
