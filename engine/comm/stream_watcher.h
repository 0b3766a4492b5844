// Told what the threads do that make batches ahead of a rank's compute thread, so that whoever records ranks can give them turns, and note
// what they do, as it does for the compute thread.
#pragma once

#include <cstdint>

namespace atl {

/// Calls come from the threads themselves. `maker`: kTrains, or the number of a thread that makes batches.
class StreamWatcher {
 public:
  virtual ~StreamWatcher() = default;
  static constexpr int kTrains = -1;

  /// By the thread that trains, before the others begin: so many, which may be so many batches ahead.
  virtual void opens(int makers, int ahead) = 0;
  virtual void begins(int maker) = 0;
  virtual void ends(int maker) = 0;

  /// It makes the batch of a step, until made().
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

}  // namespace atl
