// The typed front of communication: checks shapes, runs operations in order on lanes of their own, counts
// every byte and second, and never waits without a time-out. One per rank; called from that rank's compute
// thread. What goes over Lane::kPrefetch may be exchanged and waited for by one other thread, which fetches
// ahead: neither waits for the other's operations, and each lane has an order of its own.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/ledger.h"
#include "comm/operation.h"
#include "comm/rank_group.h"
#include "comm/trace.h"
#include "comm/transports.h"
#include "comm/wait_board.h"
#include "tensor/device_stream.h"
#include "tensor/matrix.h"

namespace atl {

struct Operation;
class ProgressEngine;
class StreamWatcher;

/// Completion of an enqueued operation. Copyable; an empty Event is complete. Not to be used after its
/// Communicator is gone.
class Event {
 public:
  Event() = default;
  bool complete() const;
  /// Returns when the operation is complete. Throws Error naming the missing rank and its host where nothing
  /// has come for the communicator's time-out, or the operation's own failure. Seconds waited are entered in
  /// the ledger as exposed, unless they are those of a thread that fetches ahead.
  void wait();

 private:
  friend class Communicator;
  struct State;
  Event(State* owner, std::shared_ptr<Operation> operation);
  State* owner_ = nullptr;
  std::shared_ptr<Operation> operation_;
};

/// Rows to or from one peer; an empty view is allowed and moves nothing.
struct RowsTo {
  Rank peer;
  ConstMatrixView rows;
};
struct RowsFrom {
  Rank peer;
  MatrixView rows;
};

class Communicator {
 public:
  struct Options {
    std::chrono::milliseconds timeout{
        300'000};                // of silence: a long transfer may take longer, as long as it goes on
    WaitBoard* waits = nullptr;  // told whom this rank waits for; outlives the communicator
    Trace* trace = nullptr;      // told what is sent and waited for when; outlives it, too
    /// Told, by the thread that waits, that the library doesn't come back from a call. Its thread can't be
    /// joined any more, so that nothing can be put away: it ends the process. Where it returns, an Error
    /// follows.
    std::function<void(const std::string&)> on_stuck;
  };
  /// Opens the transport on a thread of its own, which alone calls it.
  Communicator(std::unique_ptr<Transport> transport, const Options& options);
  explicit Communicator(std::unique_ptr<Transport> transport);
  /// Over what carries out operations otherwise. `trace` as in the options.
  explicit Communicator(std::unique_ptr<ProgressEngine> engine, Trace* trace = nullptr);
  /// Leaves the group: in step with the others if all went well, at once during an exception, so that they
  /// notice.
  ~Communicator();

  Rank rank() const;
  int size() const;
  bool same_server(Rank a, Rank b) const;
  const std::string& host(Rank rank) const;
  const char* transport_name() const;

  /// Enqueues an exchange of contiguous row blocks with any subset of peers and returns at once. Both sides
  /// must name each other with equal sizes, in the same order of calls within the lane. Buffers must stay put
  /// until the event. In a device's memory they are read and written after all that `stream` was given
  /// before; null: the host's are ready. Where nothing is to be moved, any thread may ask, and the event is
  /// complete.
  Event exchange(Lane lane, Traffic purpose, std::span<const RowsTo> sends,
                 std::span<const RowsFrom> receives, DeviceStream* stream = nullptr);
  /// The same for rows in another number format; a message without bytes is allowed and moves nothing.
  Event exchange(Lane lane, Traffic purpose, std::span<const Message> sends,
                 std::span<const Message> receives, DeviceStream* stream = nullptr);

  /// Sum over ranks in place, added in rank order whatever the transport, so that the result is the same bits
  /// on every rank, every run and every transport. Waited for.
  void all_reduce(Traffic purpose, std::span<float> values);
  void all_reduce(Traffic purpose, std::span<double> values);
  void all_reduce(Traffic purpose, std::span<std::int64_t> values);
  /// The same over a group.
  void all_reduce(Traffic purpose, const RankGroup& group, std::span<double> values);
  /// The same over a group, begun: `values` are whole at the event. `terms`: all_reduce_memory() bytes
  /// (comm/all_reduce.h), the sum's until then, as is the group. All are in the host's memory; `stream` as
  /// for an exchange.
  Event begin_all_reduce(Traffic purpose, const RankGroup& group, std::span<float> values,
                         std::span<std::byte> terms, DeviceStream* stream = nullptr);
  Event begin_all_reduce(Traffic purpose, const RankGroup& group, std::span<double> values,
                         std::span<std::byte> terms, DeviceStream* stream = nullptr);

  /// Whether begin_device_sum() may be called: the ranks' devices are linked. The same on all ranks.
  bool sums_on_devices() const;
  /// A sum over all ranks in place, begun, of values in the memory of `stream`'s device, by the devices
  /// themselves: terms are added in an order that differs from run to run, so that the bits, the same on all
  /// ranks, do too. In the bulk lane: in its order of calls.
  Event begin_device_sum(Traffic purpose, std::span<Real> values, DeviceStream* stream);

  void broadcast(Traffic purpose, Rank root, std::span<std::byte> bytes);
  /// Every rank's bytes, in rank order; sizes may differ. Sends 8 bytes for the size besides.
  std::vector<std::vector<std::byte>> all_gather(Traffic purpose, std::span<const std::byte> mine);
  /// Bytes for each rank in, bytes from each rank out. Sends 8 bytes for each size besides.
  std::vector<std::vector<std::byte>> all_to_all(Traffic purpose,
                                                 const std::vector<std::vector<std::byte>>& to);
  void barrier();

  /// Throws Error naming the ranks and hosts that differ unless `value` is the same on all ranks: build,
  /// manifest, data set. `what` says what is compared.
  void check_same(const std::string& what, const std::string& value);

  /// After an error of this rank's own, before the memory goes that messages come to and leave from: ends all
  /// that is under way. Whatever is asked for later fails.
  void abandon();

  /// As given in the options; null: nothing is traced. The compute thread tells it what it is at.
  Trace* trace() const;
  /// Told of the threads that make batches; null: nobody asks.
  StreamWatcher* stream_watcher() const;
  /// A copy of the figures so far; any thread may ask.
  Ledger ledger() const;
  /// Processor time of the thread that communicates.
  double progress_cpu_seconds() const;
  /// Time in which some operation was under way, whether the compute thread waited for it or not. Waiting for
  /// a peer that hasn't begun its side counts.
  double communication_seconds() const;

 private:
  using Blobs = std::vector<std::vector<std::byte>>;
  Event run(Lane lane, Traffic purpose, std::shared_ptr<Operation> operation);
  Event run_messages(Lane lane, Traffic purpose, std::shared_ptr<Operation> operation);
  template <class T>
  Event begin_sum(Traffic purpose, const RankGroup& group, std::span<T> values, std::span<std::byte> terms,
                  DeviceStream* stream);
  template <class T>
  void sum(Traffic purpose, const RankGroup& group, std::span<T> values);
  Blobs exchange_blobs(Traffic purpose, const std::vector<std::span<const std::byte>>& to);

  std::unique_ptr<Event::State> state_;
};

// What a Communicator and its Events share: operations that are used again, and the ledger.

struct Event::State {
  State(std::unique_ptr<ProgressEngine> engine, Trace* told)
      : trace(told), progress(std::move(engine)), ledger(progress->transport().size()) {}

  /// An operation that nobody holds any more, its vectors' memory kept: the step loop allocates nothing. Each
  /// thread that asks has a pool of its own.
  std::shared_ptr<Operation> fresh_operation(Lane lane, DeviceStream* stream);
  void wait(Operation& operation);

  Trace* trace;
  std::unique_ptr<ProgressEngine> progress;
  std::array<std::vector<std::shared_ptr<Operation>>, 2> pools;
  std::vector<std::byte> terms;  // of the sum that is waited for; grows once
  mutable std::mutex lock;       // guards the ledger
  Ledger ledger;

 private:
  std::shared_ptr<Operation> free_operation(Lane lane);
};

}  // namespace atl
