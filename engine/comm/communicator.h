// The typed front of communication. It checks shapes, runs operations in order on several lanes, counts every
// byte and second, and never waits without a time-out. Each rank has one, which its compute thread calls. One
// other thread, which fetches ahead, may exchange and wait over Lane::kPrefetch. Neither thread waits for the
// other's operations, and each lane has an order of its own.
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

#include "base/types.h"
#include "comm/ledger.h"
#include "comm/operation.h"
#include "comm/trace.h"
#include "comm/transports.h"
#include "comm/wait_board.h"
#include "tensor/device_stream.h"
#include "tensor/matrix.h"

namespace atl {

class Communicator;
struct Operation;
class ProgressEngine;
class StreamWatcher;

/// Some of the ranks, which sum among themselves: holders of the same parameters, a stage of a pipeline, a
/// server. Members call collectives over a group in the same order. A rank in several groups calls the
/// collectives of all of them in one order, which the ranks that share these groups keep too.
class RankGroup {
 public:
  /// `members` ascend and include this rank; empty: all ranks.
  RankGroup(const Communicator& comm, std::vector<Rank> members);

  bool everyone() const { return members_.empty(); }
  int size() const { return size_; }
  /// This rank's place among the members, from 0.
  Rank place() const { return place_; }
  /// Empty: all ranks.
  std::span<const Rank> members() const { return members_; }

 private:
  std::vector<Rank> members_;
  int size_;
  Rank place_;
};

/// Completion of an enqueued operation. Copyable; an empty Event is complete. Must not outlive its
/// Communicator.
class Event {
 public:
  Event() = default;
  bool complete() const;
  /// Returns when the operation is complete. Throws the operation's own failure. If nothing has arrived for
  /// the communicator's time-out, throws an Error that names the missing rank and its host. If this rank's
  /// own device hasn't finished the work before the operation by then, throws an Error that names this rank.
  /// Waits of the compute thread are entered in the ledger as exposed seconds; those of the thread that
  /// fetches ahead aren't.
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
    std::chrono::milliseconds timeout{300'000};  // of silence; a transfer that goes on may take longer
    WaitBoard* waits = nullptr;  // told which ranks this rank waits for; outlives the communicator
    Trace* trace = nullptr;      // told of transfers and waits with their times; outlives the communicator
    /// The waiting thread calls it when a call to the library doesn't return. The progress thread calls it
    /// when this rank's device doesn't finish its work. One of the rank's threads can't be joined then, and
    /// nothing can be cleaned up, so the callback ends the process. If it returns, an Error follows.
    std::function<void(const std::string&)> on_stuck;
  };
  /// Starts a thread of its own, which opens the transport and alone calls it.
  Communicator(std::unique_ptr<Transport> transport, const Options& options);
  explicit Communicator(std::unique_ptr<Transport> transport);
  /// Runs operations on another engine. `trace` as in the options.
  explicit Communicator(std::unique_ptr<ProgressEngine> engine, Trace* trace = nullptr);
  /// Leaves the group. If all went well, it leaves in step with the others; during an exception it leaves at
  /// once, so that the others notice.
  ~Communicator();

  Rank rank() const;
  int size() const;
  bool same_server(Rank a, Rank b) const;
  const std::string& host(Rank rank) const;
  const char* transport_name() const;

  /// Enqueues an exchange of contiguous row blocks with any subset of peers and returns at once. Both sides
  /// must name each other with equal sizes, in the same order of calls within the lane. Buffers must stay in
  /// place until the event. Buffers in a device's memory are used after all work given to `stream` before;
  /// null: the buffers are the host's and ready. An exchange that moves nothing may be called from any
  /// thread, and its event is complete.
  Event exchange(Lane lane, Traffic purpose, std::span<const RowsTo> sends,
                 std::span<const RowsFrom> receives, DeviceStream* stream = nullptr);
  /// The same for rows in another number format; a message without bytes is allowed and moves nothing.
  Event exchange(Lane lane, Traffic purpose, std::span<const Message> sends,
                 std::span<const Message> receives, DeviceStream* stream = nullptr);

  /// Sums over ranks in place, in rank order, so that the bits are the same on every rank, in every run and
  /// with every transport. Returns when the sum is there.
  void all_reduce(Traffic purpose, std::span<float> values);
  void all_reduce(Traffic purpose, std::span<double> values);
  void all_reduce(Traffic purpose, std::span<std::int64_t> values);
  /// The same sum over a group.
  void all_reduce(Traffic purpose, const RankGroup& group, std::span<double> values);
  /// Begins a sum over a group: `values` hold the sums once the event is complete. The group must stay until
  /// then, and so must `terms`, which has all_reduce_memory() bytes (comm/all_reduce.h). All memory is the
  /// host's; `stream` is used as in an exchange.
  Event begin_all_reduce(Traffic purpose, const RankGroup& group, std::span<float> values,
                         std::span<std::byte> terms, DeviceStream* stream = nullptr);
  Event begin_all_reduce(Traffic purpose, const RankGroup& group, std::span<double> values,
                         std::span<std::byte> terms, DeviceStream* stream = nullptr);

  /// Whether begin_device_sum() may be called, because the ranks' devices are linked. The same on all ranks.
  bool sums_on_devices() const;
  /// Begins a sum over all ranks, in place, that the devices compute themselves. `values` are in the memory
  /// of `stream`'s device. The order of additions, and so the bits of the sum, may differ from run to run;
  /// all ranks of a run get the same bits. The sum runs in the bulk lane, in its order of calls.
  Event begin_device_sum(Traffic purpose, std::span<Real> values, DeviceStream* stream);

  void broadcast(Traffic purpose, Rank root, std::span<std::byte> bytes);
  /// Returns every rank's bytes, in rank order; sizes may differ. Sends 8 bytes for the size besides.
  std::vector<std::vector<std::byte>> all_gather(Traffic purpose, std::span<const std::byte> mine);
  /// Takes bytes for each rank and returns bytes from each rank. Sends 8 bytes for each size besides.
  std::vector<std::vector<std::byte>> all_to_all(Traffic purpose,
                                                 const std::vector<std::vector<std::byte>>& to);
  void barrier();

  /// Compares `value` over all ranks (build, manifest, data set). Throws Error naming the ranks and hosts
  /// whose value differs. `what` names the value.
  void check_same(const std::string& what, const std::string& value);

  /// Ends all operations under way; later ones fail. Call after an error of this rank's own, before the
  /// memory of messages is freed.
  void abandon();

  /// The trace given in the options; null: nothing is traced. The compute thread tells it what it does.
  Trace* trace() const;
  /// The watcher of the threads that make batches; null: nobody watches.
  StreamWatcher* stream_watcher() const;
  /// A copy of the figures so far; any thread may ask.
  Ledger ledger() const;
  /// CPU seconds of the thread that communicates.
  double progress_cpu_seconds() const;
  /// Seconds in which any operation was under way, whether or not the compute thread waited. They include
  /// waiting for a peer that hasn't begun its side.
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

/// Starts the thread that opens the transport and calls it (progress.h). Throws what open() throws.
std::unique_ptr<ProgressEngine> start_progress(std::unique_ptr<Transport> transport,
                                               const Communicator::Options& options);

// The state that a Communicator and its Events share: reusable operations, and the ledger.

struct Event::State {
  State(std::unique_ptr<ProgressEngine> engine, Trace* told)
      : trace(told), progress(std::move(engine)), ledger(progress->transport().size()) {}

  /// An operation that nobody holds any more. Its vectors keep their memory, so that the step loop allocates
  /// nothing. The compute thread and the one that fetches ahead have separate pools.
  std::shared_ptr<Operation> fresh_operation(Lane lane, DeviceStream* stream);
  void wait(Operation& operation);

  Trace* trace;
  std::unique_ptr<ProgressEngine> progress;
  std::array<std::vector<std::shared_ptr<Operation>>, 2> pools;
  std::vector<std::byte> terms;  // scratch of the sum that a thread waits for; grows once
  mutable std::mutex lock;       // guards the ledger
  Ledger ledger;

 private:
  std::shared_ptr<Operation> free_operation(Lane lane);
};

}  // namespace atl
