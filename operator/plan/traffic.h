// Traffic between a job's servers: bytes per epoch between each pair, both directions together, as a sparse
// symmetric matrix. Servers that don't talk to each other take no memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "job/layout.h"

namespace atl::ctl {

/// All pairs of `servers` servers, each of which exchanges `bytes`. Above kMostAllToAll servers, only pairs
/// whose numbers differ by 1, 2, 4, … are listed, and they share the bytes of all pairs. Any user may ask for
/// thousands of servers, and a list of all pairs would exhaust the operator's memory.
std::vector<PairBytes> pairs_of_all(int servers, double bytes);
inline constexpr int kMostAllToAll = 1024;

class Traffic {
 public:
  struct Peer {
    int server = 0;
    double bytes = 0;  // both directions
  };

  /// Flows may come in any order and may repeat a pair. A server's flow to itself costs nothing and is left
  /// out.
  Traffic(int servers, std::span<const PairBytes> flows);

  /// The traffic that is assumed for a job whose parts aren't known yet: every server exchanges `bytes` with
  /// every other, listed by pairs_of_all().
  static Traffic uniform(int servers, double bytes);

  int servers() const { return int(offsets_.size()) - 1; }
  std::span<const Peer> peers(int server) const {
    return {peers_.data() + offsets_[std::size_t(server)], peers_.data() + offsets_[std::size_t(server) + 1]};
  }
  /// The sum over all pairs, each counted once.
  double total_bytes() const;

 private:
  std::vector<std::int64_t> offsets_;  // (servers + 1)
  std::vector<Peer> peers_;            // by server, then by peer, ascending
};

/// Sums flows between ranks to flows between their groups (Layout::groups).
std::vector<PairBytes> between_groups(const Layout& layout, std::span<const PairBytes> between_ranks);

}  // namespace atl::ctl
