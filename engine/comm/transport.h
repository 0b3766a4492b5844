// How bytes move between ranks: the small interface that MPI, NCCL and threads-in-one-process implement.
// The Communicator in front of it does the checking, the accounting and every collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace atl {

/// Lanes of communication, each in an order of its own: small synchronous collectives overtake deferrable bulk (stale halos,
/// stage transfers). What is fetched for coming batches goes beside both, from a thread of its own.
enum class Lane { kSmall = 0, kBulk = 1, kPrefetch = 2 };
inline constexpr int kLanes = 3;
/// Groups of messages that may be under way in a lane at once, in slots. Bulk: where one way of a link has less to carry than
/// the other, it goes on with the groups that follow. Small: what isn't a sum in the first slot, sums in the others, whose first
/// rounds needn't wait for the second round of the one before.
inline constexpr int kSlots = 8, kSumsAtOnce = 4;
constexpr int slots_of(Lane lane) {
  return lane == Lane::kSmall ? 1 + kSumsAtOnce : kSlots;
}

/// One message of a group: `bytes` bytes at `data` to or from `peer`. Any size: transports split what their
/// library can't count (2 GiB).
struct Message {
  Rank peer;
  std::byte* data;  // read from when sent
  std::int64_t bytes;
};

/// A started group of messages.
class Pending {
 public:
  virtual ~Pending() = default;
  /// True when every message of the group has been sent or received. Never blocks. Throws Error naming the
  /// rank and host when a peer is known to be gone.
  virtual bool done() = 0;
  /// The peers whose messages are still outstanding, ascending, each once.
  virtual std::vector<Rank> outstanding() const = 0;
  /// A number that grows whenever done() has found a further part of them sent or received.
  virtual std::int64_t moved() const = 0;
};

/// All calls but rank(), size(), host(), name(), carries() and sums_on_devices() come from one thread, the communicator's progress thread:
/// tell_arrivals() and open() first, close() last. Between a pair of ranks messages match in the order in which they were started within bulk,
/// within prefetch, and within a slot of the small lane: ranks call start() in the same order there. In bulk that is one order for
/// all ranks, not for each pair alone (comm/transports.h).
class Transport {
 public:
  virtual ~Transport() = default;
  /// Joins the group. rank(), size() and host() are valid from here on.
  virtual void open() = 0;
  /// From here on `told` is called, by any thread, whenever part of a message may have come, or a peer has left; empty: by nobody any
  /// more. False: nobody tells, so that done() must be asked again and again.
  virtual bool tell_arrivals(const std::function<void()>& /*told*/) { return false; }
  /// Leaves it. `orderly`: nothing is outstanding, so wait for the others where the library wants that;
  /// otherwise leave at once, so that the others notice.
  virtual void close(bool orderly) = 0;

  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  /// "node-name" of every rank, the same everywhere; ranks with equal names share a server.
  virtual const std::string& host(Rank rank) const = 0;
  /// Starts sending and receiving; buffers belong to the transport until done(). What a lane sends to a peer leaves in the
  /// order of starts. One group in each slot (0 … slots_of(lane) − 1) is under way at a time: the result is valid until
  /// the slot's next start(). Maps to one NCCL group.
  virtual Pending& start(Lane lane, int slot, std::span<const Message> sends,
                         std::span<const Message> receives) = 0;
  /// Whether the ranks' devices can sum over all ranks themselves: start_sum() may be called. The same on all ranks.
  virtual bool sums_on_devices() const { return false; }
  /// Starts such a sum in bulk, of as many values on each rank, in place in its device's memory. In the order of start()s there; the
  /// slot likewise. Terms are added in any order, and all ranks get the same bits.
  virtual Pending& start_sum(int slot, std::span<Real> values);
  /// Whether what the small lane sends should leave before what the others have yet to send: nobody stands waiting for bulk.
  virtual void sums_go_first(bool /*first*/) {}
  /// Gives up all groups under way after a failure: from here on nothing is written to their buffers, which
  /// go back to their owners. Only close() follows.
  virtual void abandon() = 0;
  virtual const char* name() const = 0;  // "mpi", "local"
  /// False: messages have no contents, and sums of them aren't made (a dry run's).
  virtual bool carries() const { return true; }
};

}  // namespace atl
