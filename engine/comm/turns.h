// The order in which the messages of a lane leave for each peer, or come from it, where several groups are under way.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/types.h"

namespace atl {

/// What a lane sends to a peer leaves in the order of starts, also where several groups are under way: a later
/// group's message would take half of the link from an earlier one's, and be taken for it. Each send draws a number,
/// and goes when that is up, with `at_once` others at most on their way.
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
