// The thread that communicates for one rank, so that the compute thread can go on: the only thread that calls
// the transport. Each lane starts its operations in order and has several of them under way; lanes run beside each other.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "comm/all_reduce.h"
#include "comm/communicator.h"
#include "comm/ledger.h"
#include "comm/poll_pace.h"
#include "comm/trace.h"
#include "comm/transport.h"
#include "comm/wait_board.h"

namespace atl {

/// One enqueued operation: the first round's messages and, for a sum, what produces the next round's. Filled
/// by the thread that asks for it, then the progress thread's until `finished`, then the asking thread's again.
struct Operation {
  Lane lane = Lane::kSmall;
  Traffic purpose = Traffic::kSetup;
  std::vector<Message> sends, receives;
  bool sums = false, of_everyone = true;  // all ranks take part in the sum
  AllReduce all_reduce;
  DeviceStream* stream = nullptr;  // null: its memory is ready; otherwise when this stream has reached …
  DeviceStream::Mark after = 0;    // … this mark
  bool is_ready() const { return stream == nullptr || stream->reached(after); }
  std::int64_t bytes = 0;  // that it sends, for the trace …
  WorkLabel label;         // … and in which work it was started

  std::string failure;  // empty: it went well
  std::atomic<bool> finished{false};
};

/// Starts the thread, which opens the transport; the constructor throws what open() threw. enqueue() and wait() are called from
/// one thread for the small and bulk lanes, the compute thread, and from one for prefetch, which may be another.
class Progress {
 public:
  Progress(std::unique_ptr<Transport> transport, const Communicator::Options& options);
  /// Abandons what is unfinished, closes the transport and joins.
  ~Progress();

  Transport& transport() { return *transport_; }  // rank(), size(), host(), name(), carries() alone
  void enqueue(std::shared_ptr<Operation> operation);
  /// Sleeps until `operation` is finished. Where nothing has moved in its lane for the length of the time-out, the operations
  /// under way, and all later ones, fail with the names of the ranks that they wait for.
  void wait(Operation& operation);
  /// Fails all operations, under way and later ones: from here on nothing is written to their buffers.
  void abandon();
  /// Processor time of the progress thread so far.
  double cpu_seconds() const;
  /// Time so far in which an operation was under way in any lane.
  double busy_seconds() const;

  /// Shorter waits are everyday ones and stand on no board.
  static constexpr std::chrono::seconds kLongWait{1};

 private:
  using Clock = std::chrono::steady_clock;
  struct Running {
    std::shared_ptr<Operation> operation;
    Pending* pending = nullptr;
    Clock::time_point since;
    std::int64_t moved = 0;  // of `pending`, as it was last seen
    bool arrived = false;    // all its rounds; to be marked finished
  };
  /// A thread that stands in wait(): the compute thread, or the one that fetches ahead.
  struct Waiter {
    bool stands = false;
    Lane lane = Lane::kSmall;  // of the operation that it waits for
    Clock::time_point since;
  };
  static constexpr std::size_t kComputes = 0, kPrefetches = 1;

  /// Calls `look` for each operation that is under way, lane by lane.
  template <class Look>
  void for_each_running(Look look) {
    for (auto& lane : running_)
      for (Running& running : lane)
        if (running.operation) look(running);
  }

  void thread_main();
  void loop();
  void await_work(std::unique_lock<std::mutex>& lock);
  bool take_next();
  Running* place_of(const Operation& operation);
  bool advance_all(std::string& failure);
  bool advance(Running& running, int slot);
  void note_movement(Running& running);
  [[noreturn]] void stuck(const Operation& operation) const;
  void finish_arrived();
  void fail_all(const std::string& why);
  std::string names(const std::vector<Rank>& ranks) const;
  std::string missing_ranks();
  void rest(std::unique_lock<std::mutex>& lock);
  Clock::time_point silent_since(const Waiter& waiter) const;
  Clock::time_point longest_silence(Clock::time_point now) const;
  void tell_wait(Clock::time_point now);

  std::unique_ptr<Transport> transport_;
  const Communicator::Options options_;
  std::array<std::array<Running, kSlots>, kLanes> running_;  // by lane and slot; the progress thread's own
  std::array<Clock::time_point, kLanes> arrived_{};          // what arrived last, by lane …
  std::array<Clock::time_point, kLanes> moved_{};  // … and when a part of anything last did, or left
  std::size_t next_sum_ = 0;                       // of kSumsAtOnce slots
  PollPace pace_;

  mutable std::mutex lock_;  // guards what follows
  std::condition_variable work_, done_;
  std::array<std::vector<std::shared_ptr<Operation>>, kLanes> queues_;  // a few each: a deque would allocate
  bool stop_ = false, abandoned_ = false, opened_ = false, failing_ = false;
  Clock::time_point looked_;                     // when the progress thread last came by
  std::optional<Clock::time_point> busy_since_;  // an operation is under way since then
  Clock::duration busy_{};                       // before that
  std::string broken_;                           // why every further operation fails; empty: nothing is wrong
  std::exception_ptr open_failure_;
  std::array<Waiter, 2> waiters_;
  Clock::time_point next_telling_;  // on the board, where somebody waits; max(): never
  bool told_ = false;               // something stands there

  std::thread thread_;
};

}  // namespace atl
