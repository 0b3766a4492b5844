// One lane of the MPI transport: groups of messages on their way, and what may leave when.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/types.h"
#include "comm/transports.h"

namespace atl {

/// Where this process stands in the job, for error messages.
struct MpiPlace {
  Rank rank = 0;
  std::vector<std::string> hosts;  // by rank; empty before they are known
};

/// Fails naming the call, the rank, the peer of its message and their hosts unless `code` is MPI's success.
void check_mpi(int code, const char* call, const MpiPlace& place, std::optional<Rank> peer = {});

/// A message travels in pieces, of which a few are on their way to a peer at a time, so that what is more
/// urgent passes between them. Between servers pieces are short enough for the library to send them without
/// asking; in its stead, the receiver of a long message says once that its memory is there. (Asked for piece
/// by piece, bytes would wait for a request that stands behind the receiver's own bulk: two ranks that
/// exchange rows would mostly send in turn.)
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

/// What a lane sends to a peer leaves in the order of starts, also where several groups are under way: a
/// later group's message would take half of the link from an earlier one's, and be taken for it. Each send
/// draws a number, and goes when that is up, with `at_once` others at most on their way.
class Turns {
 public:
  Turns(int ranks, int at_once) : peers_(std::size_t(ranks)), at_once_(at_once) {}

  /// The first of `count` numbers.
  std::int64_t draw(Rank peer, std::int64_t count) {
    return std::exchange(of(peer).drawn, of(peer).drawn + count);
  }
  bool is_up(Rank peer, std::int64_t number) const {
    const Peer& p = peers_[std::size_t(peer)];
    return number == p.gone && p.gone - p.arrived < at_once_;
  }
  /// The one that was up is on its way.
  void go(Rank peer) { ++of(peer).gone; }
  /// One of those on their way has left.
  void arrive(Rank peer) { ++of(peer).arrived; }

 private:
  struct Peer {
    std::int64_t drawn = 0, gone = 0, arrived = 0;
  };
  Peer& of(Rank peer) { return peers_[std::size_t(peer)]; }

  std::vector<Peer> peers_;
  int at_once_;
};

}  // namespace atl
