// The numbers that a manifest gives on servers that hold copies of each other's vertices (strategy
// `granndis`).
#pragma once

#include "job/strategies.h"

namespace atl {

/// How many consecutive ranks share a server: placement.ranksPerServer, or 1 where that is 0.
int ranks_of_a_server(const Job& job);
/// Which copies of other servers' vertices a server holds, and which layers read them.
struct Expansion {
  int hops = 1;    // the first `hops` gathering layers read copies …
  int beyond = 0;  // … and the `beyond` layers behind them read rows of other ranks
  int max_hop = 1;
  int fanout = 15;  // −1: all
  bool is_exact = false;
  bool redraws = false;  // takes other copies in each epoch
  int batches = 1;       // among which a server's vertices are divided
};
Expansion expansion_of(const Job& job);

}  // namespace atl
