// What a manifest says of servers that hold copies of each other's vertices (strategy `granndis`), as numbers.
#pragma once

#include "job/job.h"

namespace atl {

/// Ranks that share a server: consecutive ones, placement.ranksPerServer of them; 0: each rank has a server of its own.
int ranks_of_a_server(const Job& job);
/// How far from its own vertices a server takes copies, and whether that is all that the layers depend on.
struct Expansion {
  int hops = 1;
  int fanout = 15;  // −1: all
  bool is_exact = false;
  bool redraws = false;  // other copies in each epoch
};
Expansion expansion_of(const Job& job);

}  // namespace atl
