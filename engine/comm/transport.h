// How bytes move between ranks: the small interface that MPI, NCCL and threads-in-one-process implement.
// The Communicator in front of it does the checking, the accounting and every collective.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/types.h"

namespace atl {

/// Two lanes of communication: small synchronous collectives overtake deferrable bulk (stale halos, stage
/// transfers). Order within a lane is the same on all ranks.
enum class Lane { kSmall = 0, kBulk = 1 };

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
  /// True when every message of the group has been sent or received. Never blocks.
  virtual bool done() = 0;
  /// The peers whose messages are still outstanding, for the time-out's error message. (any order)
  virtual std::string outstanding() const = 0;
};

/// All calls come from one thread (the communicator's progress thread). Ranks call start() for a lane in the
/// same order; between a pair of ranks and within a lane, messages match in the order in which they were started.
class Transport {
 public:
  virtual ~Transport() = default;
  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  /// "node-name" of every rank, the same everywhere; ranks with equal names share a server.
  virtual const std::string& host(Rank rank) const = 0;
  /// Starts sending and receiving; buffers belong to the transport until done(). Maps to one NCCL group.
  virtual std::unique_ptr<Pending> start(Lane lane, std::span<const Message> sends, std::span<const Message> receives) = 0;
  virtual const char* name() const = 0;  // "mpi", "local"
};

}  // namespace atl
