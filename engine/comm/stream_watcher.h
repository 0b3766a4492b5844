// Told what the threads beside a rank's compute thread do: those that make batches ahead of it, and the one that explains. Whoever
// records ranks gives them turns by it, and notes what they do, as it does for the compute thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace atl {

/// Calls come from the threads themselves. `maker`: kTrains, kExplains, or the number of a thread that makes batches.
class StreamWatcher {
 public:
  virtual ~StreamWatcher() = default;
  static constexpr int kTrains = -1, kExplains = -2;

  /// By the thread that trains, before the others begin: so many, which may be so many batches ahead.
  virtual void opens(int makers, int ahead) = 0;
  virtual void begins(int maker) = 0;
  virtual void ends(int maker) = 0;

  /// By the thread that trains, before the one that explains begins.
  virtual void opens_explainer() = 0;
  /// By the thread that trains: that one may go on with an explanation of this number. By the one that makes batches: it needs that.
  virtual void begins_explanation(std::int64_t number) = 0;
  virtual void wants_explanation(std::int64_t number) = 0;

  /// It makes the batch of a step, or the explanation of a number, until made().
  virtual void makes(int maker, std::int64_t step) = 0;
  virtual void made(int maker) = 0;
  /// The thread that trains goes on with the next batch.
  virtual void takes() = 0;

  /// It is about to stand until another of its rank's threads goes on …
  virtual void stands(int maker) = 0;
  /// … has changed what others may stand for, …
  virtual void stirs() = 0;
  /// … and goes on. May take long: others compute.
  virtual void goes_on(int maker) = 0;
};

/// Waits, with the lock, until ready(); leaves the lock while a watcher, null where nobody watches, lets others compute before the thread
/// goes on.
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
