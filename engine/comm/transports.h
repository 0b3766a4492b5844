// The transports: ranks as threads, as processes, and on GPUs with or without links of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/types.h"
#include "tensor/device_stream.h"

namespace atl {

/// Lanes of communication, each with an order of its own. Small synchronous collectives overtake deferrable
/// bulk (stale halos, stage transfers). Fetches for coming batches have a lane beside these two, and a thread
/// of their own.
enum class Lane { kSmall = 0, kBulk = 1, kPrefetch = 2 };
inline constexpr int kLanes = 3;
/// The number of groups of messages that may be under way in a lane at once, in slots. In bulk, a direction
/// of a link that has less to carry than the other goes on with the next groups. In the small lane, sums have
/// slots of their own, so that a sum's first round needn't wait for the second round of the previous sum. All
/// other operations take the first slot.
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
  /// Grows whenever done() has found a further part of the messages sent or received.
  virtual std::int64_t moved() const = 0;
};

/// A way to move messages between ranks. All calls but rank(), size(), host(), name(), carries() and
/// sums_on_devices() come from one thread, the communicator's progress thread: tell_arrivals() and open()
/// first, close() last. Between two ranks, messages match in the order in which they were started, within
/// bulk, within prefetch, and within each slot of the small lane: both ranks call start() in the same order
/// there. Bulk has one order for all ranks, not one for each pair (linked_transport.cc).
class Transport {
 public:
  virtual ~Transport() = default;
  /// Joins the group. rank(), size() and host() are valid from here on.
  virtual void open() = 0;
  /// From now on any thread may call `told` whenever part of a message may have come or a peer has left; an
  /// empty `told` ends this. Returns false if arrivals aren't told, so that done() must be polled.
  virtual bool tell_arrivals(const std::function<void()>& /*told*/) { return false; }
  /// Whether done() may also change without an arrival, so that it must be polled even if arrivals are told.
  /// Valid after open().
  virtual bool must_be_polled() const { return false; }
  /// Leaves the group. `orderly`: nothing is outstanding, so wait for the others if the library needs that;
  /// otherwise leave at once, so that the others notice.
  virtual void close(bool orderly) = 0;

  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  /// The node name of every rank, the same everywhere; ranks with equal names share a server.
  virtual const std::string& host(Rank rank) const = 0;
  /// Starts sending and receiving; buffers belong to the transport until done(). A lane's sends to a peer
  /// leave in the order of starts. Each slot (0 … slots_of(lane) − 1) has one group under way at a time: the
  /// result is valid until the slot's next start(). Maps to one NCCL group.
  virtual Pending& start(Lane lane, int slot, std::span<const Message> sends,
                         std::span<const Message> receives) = 0;
  /// Whether the ranks' devices can sum over all ranks themselves, so that start_sum() may be called. The
  /// same on all ranks.
  virtual bool sums_on_devices() const { return false; }
  /// Starts a sum over all ranks in lane kBulk, in place in the device's memory. Each rank has the same
  /// number of values. The sum counts as a start() of that lane: it has a slot, and all ranks start sums and
  /// groups in one order. Terms are added in any order, but all ranks get the same bits.
  virtual Pending& start_sum(int slot, std::span<Real> values) {
    ATOLL_CHECK(false, "{} has no sums on devices (of {} values, in slot {})", name(), values.size(), slot);
  }
  /// Says whether the small lane's sends should leave before the other lanes' unsent bytes, because no thread
  /// waits for bulk.
  virtual void sums_go_first(bool /*first*/) {}
  /// Gives up all groups under way after a failure. Afterwards nothing is written to their buffers, which go
  /// back to their owners. Only close() follows.
  virtual void abandon() = 0;
  virtual const char* name() const = 0;  // "mpi", "local"
  /// False in a dry run: messages have no contents and aren't summed.
  virtual bool carries() const { return true; }
};

/// Transports of `ranks` ranks that reach each other, one for each rank's thread. `hosts` names each rank's
/// server (default: all "localhost"), so that a test can have links between servers. A send is done when its
/// receiver has copied it. When a rank's transport closes or dies, every other rank's outstanding messages
/// with it fail.
std::vector<std::unique_ptr<Transport>> make_local_group(int ranks, std::vector<std::string> hosts = {});

/// The most bytes that should be queued for a server's link. Queued bytes belong to the system, and more
/// urgent messages can no longer overtake them.
inline constexpr int kQueuedBytes = 256 << 10;

struct MpiOptions {
  /// This rank's server; empty: the machine's name as MPI gives it.
  std::string host;
  /// The size of the pieces that longer messages are split into (mpi_lane.h). Open MPI sends at most 64 KiB
  /// over TCP, header included, without asking the receiver first. Equal on all ranks; tests set it low.
  std::int64_t piece_bytes = 63 << 10;
  /// The size of pieces within a server, where messages go through memory and each piece costs a rendezvous.
  std::int64_t near_piece_bytes = 4 << 20;
};

/// A transport over MPI_COMM_WORLD, with one MPI communicator per lane. open() initialises MPI and an orderly
/// close() finalises it, so a process can have only one, once. Every failed MPI call is an Error naming the
/// call, rank and host.
std::unique_ptr<Transport> make_mpi_transport(MpiOptions options = {});

/// The progress thread calls `make_stream` in open(). Messages may be in the host's memory or the device's.
std::unique_ptr<Transport> make_staged_transport(std::unique_ptr<Transport> host,
                                                 std::function<std::unique_ptr<DeviceStream>()> make_stream);

}  // namespace atl
