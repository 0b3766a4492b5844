#include "simulate/virtual_links.h"

#include <algorithm>

namespace atl {

VirtualLinks::VirtualLinks(const Topology& topology, FairShares& shares)
    : topology_(topology), shares_(shares), server_(topology.server_of_rank()) {
  int resources = 0;
  const auto add = [&](double capacity) {
    return resources = 1 + shares.add_resource(capacity), resources - 1;
  };
  const auto both_ways = [&](double rate) { return Ways{add(rate), add(rate)}; };
  for (std::size_t r = 0; r < server_.size(); ++r) {
    inside_.push_back(both_ways(topology.inside.rate));
    processors_.push_back(add(std::min(1.0, topology.cores)));
  }
  for (const ServerSpec& server : topology.servers) {
    of_server_.push_back(both_ways(server.rate));
    for (const Bridge& bridge : topology.bridges) {
      if (std::max(bridge.from, bridge.to) >= int(server.ranks.size())) continue;
      const Rank a = server.ranks[std::size_t(bridge.from)], b = server.ranks[std::size_t(bridge.to)];
      bridge_[{a, b}] = add(topology.bridge.rate);
      bridge_[{b, a}] = add(topology.bridge.rate);
    }
  }
  const int per_rack = topology.rack_servers;
  for (int s = 0; per_rack > 0 && s < int(topology.servers.size()); s += per_rack)
    of_rack_.push_back(both_ways(topology.rack_rate));
  lines_.resize(std::size_t(resources));
}

Path VirtualLinks::path(Rank from, Rank to) const {
  const int a = server(from), b = server(to);
  Path path{.between = a != b, .latency = topology_.inside.latency};
  if (a == b) {
    if (const auto own = bridge_.find({from, to}); own != bridge_.end()) {
      path.uses.add({own->second, 1});
      path.latency = topology_.bridge.latency;
      return path;
    }
    path.byte_seconds = topology_.inside.byte_seconds;
    path.uses.add({inside_[std::size_t(from)].out, 1});
    path.uses.add({inside_[std::size_t(to)].in, 1});
    add_processors(path, from, to);
    return path;
  }
  path.latency = topology_.latency, path.byte_seconds = topology_.byte_seconds;
  path.uses.add({of_server_[std::size_t(a)].out, 1});
  path.uses.add({of_server_[std::size_t(b)].in, 1});
  if (const int racks = topology_.rack_servers; racks > 0 && a / racks != b / racks) {
    path.uses.add({of_rack_[std::size_t(a / racks)].out, 1});
    path.uses.add({of_rack_[std::size_t(b / racks)].in, 1});
  }
  add_processors(path, from, to);
  return path;
}

void VirtualLinks::add_processors(Path& path, Rank from, Rank to) const {
  if (path.byte_seconds > 0)
    for (const Rank rank : {from, to}) path.uses.add({processor(rank), path.byte_seconds});
}

double VirtualLinks::pass(const Path& path, double bytes, double now, std::size_t mine) {
  double gone = now;
  for (const Use& use : path.uses.all()) {
    Line& line = lines_[std::size_t(use.resource)];
    const double seconds = bytes * use.per_unit / shares_.capacity(use.resource);
    const auto long_ones = double(shares_.flows_of(use.resource) - std::exchange(mine, 0));
    line.until = std::max(now, line.until) + seconds, line.taken += seconds;
    gone = std::max(gone, line.until + long_ones * seconds);
  }
  return gone;
}

}  // namespace atl
