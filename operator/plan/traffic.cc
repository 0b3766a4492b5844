#include "operator/plan/traffic.h"

#include <algorithm>

#include "base/error.h"

namespace atl::ctl {

Traffic::Traffic(int servers, std::span<const PairBytes> flows) : offsets_(std::size_t(servers) + 1, 0) {
  std::vector<PairBytes> both;
  both.reserve(2 * flows.size());
  for (const PairBytes& f : flows) {
    ATOLL_CHECK(f.from >= 0 && f.from < servers && f.to >= 0 && f.to < servers, "server {} → {} of {}",
                f.from, f.to, servers);
    if (f.from == f.to || f.bytes == 0) continue;
    both.push_back(f);
    both.push_back({f.to, f.from, f.bytes});
  }
  std::ranges::sort(both, {}, [](const PairBytes& f) { return std::pair(f.from, f.to); });
  int last = -1;
  for (const PairBytes& f : both) {
    const bool again = f.from == last && peers_.back().server == f.to;
    if (again) {
      peers_.back().bytes += f.bytes;
    } else {
      peers_.push_back({f.to, f.bytes});
      ++offsets_[std::size_t(f.from) + 1];
    }
    last = f.from;
  }
  for (std::size_t s = 1; s < offsets_.size(); ++s) offsets_[s] += offsets_[s - 1];
}

std::vector<PairBytes> pairs_of_all(int servers, double bytes) {
  std::vector<PairBytes> pairs;
  if (servers <= kMostAllToAll) {
    for (int a = 0; a < servers; ++a)
      for (int b = a + 1; b < servers; ++b) pairs.push_back({a, b, bytes});
    return pairs;
  }
  for (int apart = 1; 2 * apart < servers; apart *= 2)
    for (int a = 0; a < servers; ++a) pairs.push_back({a, (a + apart) % servers, 0});
  const double all = double(servers) * (servers - 1) / 2;
  for (PairBytes& pair : pairs) pair.bytes = bytes * all / double(pairs.size());
  return pairs;
}

Traffic Traffic::uniform(int servers, double bytes) {
  return {servers, pairs_of_all(servers, 2 * bytes)};
}

double Traffic::total_bytes() const {
  double twice = 0;
  for (const Peer& peer : peers_) twice += peer.bytes;
  return twice / 2;
}

std::vector<PairBytes> between_groups(const Layout& layout, std::span<const PairBytes> between_ranks) {
  std::vector<int> group_of;
  for (std::size_t g = 0; g < layout.groups.size(); ++g) {
    for (const Rank rank : layout.groups[g]) {
      group_of.resize(std::max(group_of.size(), std::size_t(rank) + 1), -1);
      group_of[std::size_t(rank)] = int(g);
    }
  }
  std::vector<PairBytes> flows;
  for (const PairBytes& f : between_ranks) {
    const int from = group_of.at(std::size_t(f.from)), to = group_of.at(std::size_t(f.to));
    if (from != to) flows.push_back({from, to, f.bytes});
  }
  return flows;
}

}  // namespace atl::ctl
