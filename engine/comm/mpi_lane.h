// One lane of the MPI transport: groups of messages under way, and the order in which their pieces leave.
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

/// Unless `code` is MPI's success, throws Error naming the call, the rank, the peer of its message and their
/// hosts.
void check_mpi(int code, const char* call, const MpiPlace& place, std::optional<Rank> peer = {});

/// A lane in which messages travel in pieces. Only a few pieces are on their way to a peer at a time, so that
/// more urgent messages pass between them. Between servers, pieces are short enough for the library to send
/// them without asking the receiver. Instead the receiver of a long message says once that its memory is
/// ready. (If the library asked for each piece, the request would wait behind the receiver's own bulk, and
/// two ranks that exchange rows would mostly send in turn.)
class MpiLane {
 public:
  struct Options {
    int slots = 1;                      // groups that may be under way
    std::int64_t piece_bytes = 1;       // bytes of a piece to another server
    std::int64_t near_piece_bytes = 1;  // bytes of a piece within a server; both equal on all ranks
    bool asks = false;  // a message of several pieces waits until its receiver says that it is ready
  };
  /// Collective, once MPI is initialised. `place` outlives it.
  MpiLane(const MpiPlace& place, int ranks, const Options& options);
  ~MpiLane();
  /// Collective. The last call, before MPI is finalised. If it isn't called, MPI's communicator is left as it
  /// is.
  void close();

  /// As Transport::start().
  Pending& start(int slot, std::span<const Message> sends, std::span<const Message> receives);
  /// Pieces of started groups that haven't left yet.
  std::int64_t unsent() const;
  /// While held, no further piece leaves.
  void hold(bool held);

 private:
  class Group;
  struct Shared;
  std::unique_ptr<Shared> shared_;  // shared by all groups
  std::vector<Group> groups_;       // by slot
};

/// Keeps a lane's sends to a peer in the order of starts, even if several groups are under way. Without this,
/// a later group's message would take half of the link from an earlier group's message, and be matched with
/// its receive. Each send draws a number. It goes when its turn comes, with at most `at_once` other sends on
/// their way.
class Turns {
 public:
  Turns(int ranks, int at_once) : peers_(std::size_t(ranks)), at_once_(at_once) {}

  /// Draws `count` numbers and returns the first.
  std::int64_t draw(Rank peer, std::int64_t count) {
    return std::exchange(of(peer).drawn, of(peer).drawn + count);
  }
  bool is_up(Rank peer, std::int64_t number) const {
    const Peer& p = peers_[std::size_t(peer)];
    return number == p.gone && p.gone - p.arrived < at_once_;
  }
  /// Notes that the send whose turn it was is on its way.
  void go(Rank peer) { ++of(peer).gone; }
  /// Notes that one of the sends on their way has left.
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
