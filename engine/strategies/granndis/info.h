// What a manifest says of servers that hold copies of each other's vertices (strategy `granndis`), as
// numbers.
#pragma once

#include "job/strategies.h"

namespace atl {

/// Ranks that share a server: consecutive ones, placement.ranksPerServer of them; 0: each rank has a server
/// of its own.
int ranks_of_a_server(const Job& job);
/// How many layers read the server's copies, how far from its own vertices it takes them, and whether that is
/// all that these layers depend on.
struct Expansion {
  int hops = 1;    // layers that read neighbours: the first ones read copies …
  int beyond = 0;  // … and those behind them the rows of other ranks
  int max_hop = 1;
  int fanout = 15;  // −1: all
  bool is_exact = false;
  bool redraws = false;  // other copies in each epoch
  int batches = 1;       // that a server's vertices are divided into
};
Expansion expansion_of(const Job& job);

}  // namespace atl
