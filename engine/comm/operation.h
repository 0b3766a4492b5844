// What a communicator asks of whatever carries out its operations: the operation itself, and the interface of
// that.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "comm/all_reduce.h"
#include "comm/ledger.h"
#include "comm/stream_watcher.h"
#include "comm/trace.h"
#include "comm/transports.h"
#include "tensor/device_stream.h"

namespace atl {

/// One enqueued operation: the first round's messages and, for a sum, what produces the next round's. Filled
/// by the thread that asks for it, then the engine's until `finished`, then the asking thread's again.
struct Operation {
  Lane lane = Lane::kSmall;
  Traffic purpose = Traffic::kSetup;
  std::vector<Message> sends, receives;
  bool sums = false, of_everyone = true;  // all ranks take part in the sum
  AllReduce all_reduce;
  // to be summed by the ranks' devices (Transport::start_sum), and then nothing else; else empty
  std::span<Real> device_sum;
  DeviceStream* stream = nullptr;  // null: its memory is ready; otherwise when this stream has reached …
  DeviceStream::Mark after = 0;    // … this mark
  bool is_ready() const { return stream == nullptr || stream->reached(after); }
  std::int64_t bytes = 0;  // that it sends, for the trace …
  WorkLabel label;         // … and in which work it was started

  std::string failure;  // empty: it went well
  std::atomic<bool> finished{false};
  /// By whoever carries it out. Once it is finished, it may be used again.
  void finish() { finished.store(true, std::memory_order_release); }
  void finish(const std::string& why) {
    failure = why;
    finish();
  }
};

/// What carries operations out: a thread that calls the transport (progress.h), or whatever records them.
/// enqueue() and wait() are called from one thread for the small and bulk lanes, the compute thread, and from
/// one for prefetch, which may be another.
class ProgressEngine {
 public:
  virtual ~ProgressEngine() = default;
  virtual Transport& transport() = 0;  // rank(), size(), host(), name(), carries() alone
  virtual void enqueue(std::shared_ptr<Operation> operation) = 0;
  /// Returns when `operation` is finished, well or not.
  virtual void wait(Operation& operation) = 0;
  /// Fails all operations, under way and later ones: from here on nothing is written to their buffers.
  virtual void abandon() = 0;
  /// Processor time of communication so far, where a thread of its own takes it.
  virtual double cpu_seconds() const = 0;
  /// Time so far in which an operation was under way in any lane.
  virtual double busy_seconds() const = 0;
  /// Told of the threads that make batches; null: nobody asks.
  virtual StreamWatcher* stream_watcher() { return nullptr; }
};

}  // namespace atl
