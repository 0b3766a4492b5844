// An operation of a communicator, and the interface of the engine that carries operations out.
#pragma once

#include <atomic>
#include <chrono>
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

/// One enqueued operation: the first round's messages and, for a sum, what produces the next round's. The
/// thread that asks for it fills it in. Then it belongs to the engine until `finished`, and afterwards to the
/// asking thread again.
struct Operation {
  Lane lane = Lane::kSmall;
  Traffic purpose = Traffic::kSetup;
  std::vector<Message> sends, receives;
  bool sums = false, of_everyone = true;  // all ranks take part in the sum
  AllReduce all_reduce;
  // a sum by the ranks' devices (Transport::start_sum), without messages; empty: none
  std::span<Real> device_sum;
  DeviceStream* stream = nullptr;  // the memory is ready once it reaches `after`; null: at once
  DeviceStream::Mark after = 0;    // the mark in `stream`
  bool is_ready() const { return stream == nullptr || stream->reached(after); }
  // set by Progress, for its time-out
  std::chrono::steady_clock::time_point enqueued{};
  std::int64_t bytes = 0;  // bytes that the operation sends, for the trace
  WorkLabel label;         // the work during which it was started, for the trace

  std::string failure;  // empty: success
  std::atomic<bool> finished{false};
  /// Called by the engine. A finished operation may be reused.
  void finish() { finished.store(true, std::memory_order_release); }
  void finish(const std::string& why) {
    failure = why;
    finish();
  }
};

/// Carries operations out. It is a thread that calls the transport (progress.h), or a recorder. The compute
/// thread calls enqueue() and wait() for the small and bulk lanes. One thread, which may be another, calls
/// them for prefetch.
class ProgressEngine {
 public:
  virtual ~ProgressEngine() = default;
  virtual Transport& transport() = 0;  // only for rank(), size(), host(), name(), carries()
  virtual void enqueue(std::shared_ptr<Operation> operation) = 0;
  /// Returns when `operation` is finished, successfully or not.
  virtual void wait(Operation& operation) = 0;
  /// Fails the operations under way and all later ones. Afterwards nothing is written to their buffers.
  virtual void abandon() = 0;
  /// CPU seconds of communication so far, if communication has a thread of its own.
  virtual double cpu_seconds() const = 0;
  /// Seconds so far in which an operation was under way in any lane.
  virtual double busy_seconds() const = 0;
  /// The watcher of the threads that make batches; null: nobody watches.
  virtual StreamWatcher* stream_watcher() { return nullptr; }
};

}  // namespace atl
