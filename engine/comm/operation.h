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
  DeviceStream* stream = nullptr;  // null: the memory is ready; else it is once this stream has reached …
  DeviceStream::Mark after = 0;    // … this mark
  bool is_ready() const { return stream == nullptr || stream->reached(after); }
  // set by Progress, for its time-out
  std::chrono::steady_clock::time_point enqueued{};
  std::int64_t bytes = 0;  // bytes that it sends, for the trace …
  WorkLabel label;         // … and the work during which it was started

  std::string failure;  // empty: success
  std::atomic<bool> finished{false};
  /// Called by the engine. A finished operation may be reused.
  void finish() { finished.store(true, std::memory_order_release); }
  void finish(const std::string& why) {
    failure = why;
    finish();
  }
};

/// Carries operations out: a thread that calls the transport (progress.h), or a recorder. The compute thread
/// calls enqueue() and wait() for the small and bulk lanes; for prefetch one thread does, which may be
/// another.
class ProgressEngine {
 public:
  virtual ~ProgressEngine() = default;
  virtual Transport& transport() = 0;  // only for rank(), size(), host(), name(), carries()
  virtual void enqueue(std::shared_ptr<Operation> operation) = 0;
  /// Returns when `operation` is finished, successfully or not.
  virtual void wait(Operation& operation) = 0;
  /// Fails all operations, under way and later ones. Afterwards nothing is written to their buffers.
  virtual void abandon() = 0;
  /// Processor time of communication so far, if it has a thread of its own.
  virtual double cpu_seconds() const = 0;
  /// Time so far in which an operation was under way in any lane.
  virtual double busy_seconds() const = 0;
  /// Told what the threads that make batches do; null: nobody watches.
  virtual StreamWatcher* stream_watcher() { return nullptr; }
};

}  // namespace atl
