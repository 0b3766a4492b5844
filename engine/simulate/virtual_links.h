// A topology's links and processors as resources that messages share: which resources a message takes from
// one rank to another, and how short messages pass.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "simulate/fair_shares.h"
#include "simulate/topology.h"

namespace atl {

/// A way from one rank to another.
struct Path {
  Uses uses;
  bool between = false;  // servers
  double latency = 0;
  double byte_seconds = 0;  // of a processor at each end
};

class VirtualLinks {
 public:
  /// Both arguments outlive it.
  VirtualLinks(const Topology& topology, FairShares& shares);

  int server(Rank rank) const { return server_[std::size_t(rank)]; }
  bool between(Rank from, Rank to) const { return server(from) != server(to); }
  int processor(Rank rank) const { return processors_[std::size_t(rank)]; }
  /// Includes the processors of both ends where bytes cost them time.
  Path path(Rank from, Rank to) const;

  /// Sends a short message over a path: it isn't split into shares, but waits for the short ones before it,
  /// and on each link for as many bytes of each long message as it has itself. `mine` long messages on its
  /// first link let it pass. Returns when it has gone.
  double pass(const Path& path, double bytes, double now, std::size_t mine);
  /// Seconds that short messages have taken of a resource so far: long ones stood meanwhile.
  double taken_by_short(int resource) const { return lines_[std::size_t(resource)].taken; }

 private:
  struct Ways {
    int out = 0, in = 0;  // resources
  };
  struct Line {
    double until = 0;  // short messages wait before it until then
    double taken = 0;
  };

  void add_processors(Path& path, Rank from, Rank to) const;

  const Topology& topology_;
  FairShares& shares_;
  const std::vector<int> server_;  // by rank
  std::vector<Ways> inside_, of_server_, of_rack_;
  std::vector<int> processors_;                  // resource, by rank
  std::map<std::pair<Rank, Rank>, int> bridge_;  // resource, by both ranks
  std::vector<Line> lines_;                      // by resource
};

}  // namespace atl
