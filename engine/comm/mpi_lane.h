// One lane of the MPI transport: groups of messages on their way, and what may leave when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/transport.h"

namespace atl {

/// Where this process stands in the job, for error messages.
struct MpiPlace {
  Rank rank = 0;
  std::vector<std::string> hosts;  // by rank; empty before they are known
};

/// Fails naming the call, the rank, the peer of its message and their hosts unless `code` is MPI's success.
void check_mpi(int code, const char* call, const MpiPlace& place, std::optional<Rank> peer = {});

/// A message travels in pieces, of which a few are on their way to a peer at a time, so that what is more urgent
/// passes between them. Between servers pieces are short enough for the library to send them without asking; in its
/// stead, the receiver of a long message says once that its memory is there. (Asked for piece by piece, bytes would wait
/// for a request that stands behind the receiver's own bulk: two ranks that exchange rows would mostly send in turn.)
class MpiLane {
 public:
  struct Options {
    int slots = 1;                      // groups that may be under way
    std::int64_t piece_bytes = 1;       // of a message to another server, …
    std::int64_t near_piece_bytes = 1;  // … and within one; equal on all ranks
    bool asks = false;                  // a message of several pieces waits for its receiver's word
  };
  /// Collective, once MPI is initialised. `place` outlives it.
  MpiLane(const MpiPlace& place, int ranks, const Options& options);
  ~MpiLane();
  /// Collective, and the end: before MPI is finalised. Without it, MPI is left as it is.
  void close();

  /// As Transport::start().
  Pending& start(int slot, std::span<const Message> sends, std::span<const Message> receives);
  /// Pieces of started groups that have yet to leave.
  std::int64_t unsent() const;
  /// While held, no further piece leaves.
  void hold(bool held);

 private:
  class Group;
  struct Shared;
  std::unique_ptr<Shared> shared_;  // by all groups
  std::vector<Group> groups_;       // by slot
};

}  // namespace atl
