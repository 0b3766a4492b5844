#include "operator/plan/first_answers.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace atl::ctl {
namespace {

/// Grows groups around a server by always adding the server that talks most to the group.
class Divider {
 public:
  Divider(Assignment& assignment, Fill fill, Draws& draws)
      : assignment_(assignment), fill_(fill), draws_(draws), bytes_(std::size_t(assignment.servers()), 0) {}

  /// servers[0] begins the first group.
  void divide(int domain, std::vector<int> servers) {
    const auto& domains = assignment_.topology().domains();
    const Domain& here = domains[std::size_t(domain)];
    if (here.children.empty()) {
      for (const int server : servers) assignment_.put(server, here.first);
      return;
    }
    std::vector<int> open = here.children;
    while (!servers.empty()) {
      const auto next = choose(open, int(servers.size()));
      const int slots = domains[std::size_t(*next)].slots;
      if (fill_ == Fill::kRandom) std::swap(servers[0], servers[draws_.below(servers.size())]);
      divide(*next, take_group(servers, std::min(slots, int(servers.size()))));
      open.erase(next);
    }
  }

 private:
  std::vector<int>::iterator choose(std::vector<int>& open, int servers) const {
    assignment_.looks().count(open.size());
    if (fill_ == Fill::kRandom) return choose_any(open);
    const auto& domains = assignment_.topology().domains();
    return std::ranges::min_element(open, {}, [&](int d) {
      const auto& [slots, room] = std::pair(domains[std::size_t(d)].slots, domains[std::size_t(d)].room);
      // Domains that hold all servers come first, tightest first; then the others, largest first.
      return fill_ == Fill::kTightest && slots >= servers ? std::pair(0, room) : std::pair(1, -slots);
    });
  }

  std::vector<int>::iterator choose_any(std::vector<int>& open) const {
    const auto& domains = assignment_.topology().domains();
    std::size_t slots = 0;
    for (const int d : open) slots += std::size_t(domains[std::size_t(d)].slots);
    std::size_t at = draws_.below(slots);
    auto next = open.begin();
    for (; at >= std::size_t(domains[std::size_t(*next)].slots); ++next)
      at -= std::size_t(domains[std::size_t(*next)].slots);
    return next;
  }

  /// Removes from `servers` a group of `size` that talk to each other, beginning with the first.
  std::vector<int> take_group(std::vector<int>& servers, int size) {
    if (size == int(servers.size())) return std::exchange(servers, {});
    std::vector<int> group;
    std::size_t best = 0;
    while (int(group.size()) < size) {
      const int server = servers[best];
      group.push_back(server);
      servers.erase(servers.begin() + std::ptrdiff_t(best));
      for (const auto& [peer, bytes] : assignment_.traffic().peers(server))
        bytes_[std::size_t(peer)] += bytes;
      best =
          std::size_t(std::ranges::max_element(servers, {}, [&](int s) { return bytes_[std::size_t(s)]; }) -
                      servers.begin());
      assignment_.looks().count(servers.size() + assignment_.traffic().peers(server).size());
    }
    for (const int server : group)
      for (const auto& [peer, bytes] : assignment_.traffic().peers(server)) bytes_[std::size_t(peer)] = 0;
    return group;
  }

  Assignment& assignment_;
  Fill fill_;
  Draws& draws_;
  std::vector<double> bytes_;  // (servers) to the growing group
};

}  // namespace

void divide(Assignment& assignment, int domain, Fill fill, int first, Draws& draws) {
  std::vector<int> servers(std::size_t(assignment.servers()));
  std::iota(servers.begin(), servers.end(), 0);
  std::rotate(servers.begin(), servers.begin() + first, servers.begin() + first + 1);
  Divider(assignment, fill, draws).divide(domain, std::move(servers));
}

std::vector<int> in_order(const Topology& topology, const Domain& domain, int servers) {
  std::vector<int> free, site_of;
  for (int site = domain.first; site < domain.last; ++site)
    free.push_back(topology.sites()[std::size_t(site)].slots);
  const auto take = [&](int site) {
    --free[std::size_t(site - domain.first)];
    site_of.push_back(site);
  };
  int site = domain.first;
  while (!topology.sites()[std::size_t(site)].takes_first) ++site;
  take(site);
  for (site = domain.first; int(site_of.size()) < servers;) {
    if (free[std::size_t(site - domain.first)] > 0)
      take(site);
    else
      ++site;
  }
  return site_of;
}

}  // namespace atl::ctl
