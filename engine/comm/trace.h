// A trace of what a rank did and when: spans of its compute thread and of its lanes. Their memory is
// allocated once and keeps the latest spans of each, so that a run's last epochs can be inspected afterwards
// (`atoll run --trace`).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "comm/ledger.h"
#include "comm/transports.h"

namespace atl {

class Communicator;

enum class Stream {
  kCompute = 0,
  kSmallLane = 1,
  kBulkLane = 2,
  kPrefetchLane = 3,
  kSampler = 4,
  kExplainer = 5
};
inline constexpr int kStreams = 6;
const char* stream_name(Stream stream);

/// What the compute thread does. Names as printed are in work_name().
enum class Work {
  kNone,
  kForward,
  kBackward,
  kRecompute,
  kLoss,
  kUpdate,
  kEvaluation,
  kPrefetch,
  kSampling,
  kFetching,
  kExplaining
};
const char* work_name(Work work);

/// The work that a span shows. For a transfer or a wait, the work during which it was started or happened.
struct WorkLabel {
  std::int64_t epoch = 0;
  std::int32_t layer = -1;  // −1: of no layer
  Work work = Work::kNone;
};

struct Span {
  std::int64_t begin = 0, end = 0;  // nanoseconds of the steady clock
  std::int64_t bytes = 0;           // sent by this rank
  WorkLabel label;
  Traffic purpose = Traffic::kSetup;  // of a transfer or a wait
  bool computes = false;              // false: a transfer or, on the compute stream, a wait for one
};

/// The trace of one rank. The progress thread calls transferred(), the thread that makes batches sampled(),
/// the thread that explains explained(), and the compute thread all other functions.
class Trace {
 public:
  static constexpr std::size_t kSpans = 1 << 15;  // spans kept of each stream
  explicit Trace(std::size_t spans = kSpans);

  /// Later spans belong to this epoch.
  void begin_epoch(std::int64_t epoch) {
    label_.epoch = epoch;
    epoch_.store(epoch, std::memory_order_relaxed);
  }
  /// The compute thread does `work` until the next call.
  void enter(Work work, int layer = -1);
  void leave() { enter(Work::kNone); }
  /// Bracket a wait of the compute thread, which then goes on with the same work.
  void begin_wait();
  void end_wait(Traffic purpose);
  WorkLabel label() const { return label_; }
  /// The label of a fetch ahead that starts now; any thread may ask.
  WorkLabel prefetch_label() const { return {epoch_.load(std::memory_order_relaxed), -1, Work::kPrefetch}; }

  void transferred(Lane lane, const Span& span);
  /// A batch of that epoch was drawn, or its features were fetched, from `begin` until now.
  void sampled(std::int64_t epoch, Work work, std::chrono::steady_clock::time_point begin);
  /// Masks that were begun in that epoch were trained from `begin` until now.
  void explained(std::int64_t epoch, std::chrono::steady_clock::time_point begin);

  /// The spans since `epoch`, in the order in which they ended. While transfers are under way, the latest may
  /// be missing.
  std::vector<Span> spans(Stream stream, std::int64_t epoch) const;
  /// Whether spans since `epoch` were overwritten by later ones.
  bool cut(std::int64_t epoch) const;

  static std::int64_t at(std::chrono::steady_clock::time_point time);

 private:
  struct Ring {
    std::vector<Span> spans;
    std::atomic<std::uint64_t> count{0};  // spans written so far
    void put(const Span& span);
  };
  void end_compute(std::int64_t end);

  std::array<Ring, kStreams> rings_;
  WorkLabel label_;
  std::atomic<std::int64_t> epoch_{0};  // label_.epoch, for other threads to read
  std::int64_t since_ = 0, waits_since_ = 0;
};

// How far the clocks of different servers are apart, so that a trace can show all ranks on one clock.

/// A clock's offset, in nanoseconds.
struct ClockOffset {
  std::int64_t ahead = 0;  // how far it is ahead of rank 0's steady clock
  std::int64_t error = 0;  // upper bound of the error: half of the quickest round trip
};

/// Returns (ranks) the offsets, on every rank. Rank 0 makes a few round trips with each other rank, and the
/// quickest counts. Collective.
std::vector<ClockOffset> measure_clock_offsets(Communicator& comm);

}  // namespace atl
