// Streams of the emulated GPUs. A stream does nothing until somebody waits for it, or earlier where the seed
// says so. Repeatedly asking whether a mark is reached counts as waiting.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "emulated.h"
#include "graphs.h"

namespace emulated {

struct Event {
  Stream* stream = nullptr;
  std::uint64_t position = 0;
};

/// One lock guards all streams, because a thread that asks for a mark moves its stream on, and streams wait
/// for each other's marks.
class Stream {
 public:
  explicit Stream(int gpu);
  ~Stream();

  int gpu() const { return gpu_; }
  void give(std::function<bool()> work);
  std::uint64_t given() const;
  bool reached(std::uint64_t position);
  /// False where the stream waits at work that isn't ready.
  bool advance(std::uint64_t until);
  /// Returns when the stream has come so far.
  void run(std::uint64_t until);
  /// Null: it isn't captured. Used by one thread at a time.
  Capture* capture() const { return capture_.get(); }
  void begin_capture() { capture_ = std::make_unique<Capture>(); }
  std::unique_ptr<Capture> end_capture() { return std::move(capture_); }
  /// Streams that this thread has made and nobody has destroyed.
  static std::vector<Stream*> of_this_thread();

 private:
  static std::shared_ptr<std::vector<Stream*>> list_of_this_thread();
  static std::recursive_mutex& mutex();

  int gpu_;
  std::shared_ptr<std::vector<Stream*>> list_;  // shared, because another thread may destroy the stream
  Random draws_;
  std::deque<std::function<bool()>> waiting_;
  std::atomic<std::uint64_t> done_{0};
  std::unique_ptr<Capture> capture_;
};

// counts.cc: counts a call of this thread that waits, frees memory, allocates some, or copies between the
// host's and a GPU's.
void count_wait();
void count_free();
void count_copy(std::size_t bytes);
void count_allocation(std::size_t bytes);
/// graphs.cc: whether this thread captures a stream and has made a call that isn't allowed meanwhile, which
/// spoils the capture.
bool unsafe_in_capture();
bool add_to_capture(cudaStream_t stream, const cudaLaunchConfig_t& config, const void* function, Binder bind,
                    std::function<void()> work);

}  // namespace emulated
