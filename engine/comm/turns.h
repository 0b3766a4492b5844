// The order in which the messages of a lane leave for each peer, where several groups are under way.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace atl {

/// What a lane sends to a peer leaves in the order of starts, also where several groups are under way: a later
/// group's message would take half of the link from an earlier one's. Each send draws a number, and goes when
/// that is up.
class Turns {
 public:
  explicit Turns(int ranks) : drawn_(std::size_t(ranks), 0), up_(std::size_t(ranks), 0) {}
  std::int64_t draw(Rank peer) { return drawn_[std::size_t(peer)]++; }
  bool is_up(Rank peer, std::int64_t number) const { return up_[std::size_t(peer)] == number; }
  void pass(Rank peer) { ++up_[std::size_t(peer)]; }

 private:
  std::vector<std::int64_t> drawn_, up_;  // by peer
};

}  // namespace atl
