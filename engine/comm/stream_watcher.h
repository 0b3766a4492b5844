// The interface through which a rank's threads tell what they do: the compute thread, the threads that make
// batches ahead of it, and the thread that explains. A recorder of ranks (simulate/recorder.h) implements it:
// it gives the threads turns and notes what each does.
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

  /// Called by the thread that trains. Its work from now on belongs to this chunk or batch of the epoch
  /// (every epoch has the same numbers); −1: to none.
  virtual void works_on([[maybe_unused]] int unit) {}

  /// Called by the thread that trains before others begin: `makers` threads will make batches, at most
  /// `ahead` of them in advance.
  virtual void opens([[maybe_unused]] int makers, [[maybe_unused]] int ahead) {}
  virtual void begins([[maybe_unused]] int maker) {}
  virtual void ends([[maybe_unused]] int maker) {}

  /// Called by the thread that trains, before the one that explains begins.
  virtual void opens_explainer() {}
  /// begins_explanation() is called by the thread that trains: the explainer may go on with explanation
  /// `number`. wants_explanation() is called by a thread that makes batches: it needs that explanation.
  virtual void begins_explanation([[maybe_unused]] std::int64_t number) {}
  virtual void wants_explanation([[maybe_unused]] std::int64_t number) {}

  /// Thread `maker` works on the batch of a step, or on explanation number `step`, until made().
  virtual void makes([[maybe_unused]] int maker, [[maybe_unused]] std::int64_t step) {}
  virtual void made([[maybe_unused]] int maker) {}
  /// The thread that trains goes on with the next batch.
  virtual void takes() {}

  /// Thread `maker` is about to wait until another thread of its rank calls stirs().
  virtual void stands([[maybe_unused]] int maker) {}
  /// The calling thread has changed something that others may wait for.
  virtual void stirs() {}
  /// Thread `maker` goes on after a wait. The call may take long, because other threads compute first.
  virtual void goes_on([[maybe_unused]] int maker) {}
};

/// Waits until ready(), with the lock held. The watcher (null: none) is told of the wait, and may let other
/// threads compute before this one goes on; meanwhile the lock is released.
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
