// The numbers that a manifest gives on servers that hold copies of each other's vertices (strategy
// `granndis`).
#pragma once

#include "job/strategies.h"

namespace atl {

/// How many ranks share a server: consecutive ones, placement.ranksPerServer of them; 0: each rank has its
/// own server.
int ranks_of_a_server(const Job& job);
/// How many layers read the server's copies, how far from its own vertices copies reach, and whether these
/// layers depend on nothing else.
struct Expansion {
  int hops = 1;    // how many gathering layers, the first ones, read copies …
  int beyond = 0;  // … and how many behind them read rows of other ranks
  int max_hop = 1;
  int fanout = 15;  // −1: all
  bool is_exact = false;
  bool redraws = false;  // takes other copies in each epoch
  int batches = 1;       // among which a server's vertices are divided
};
Expansion expansion_of(const Job& job);

}  // namespace atl
