// Answers of the placement before they are refined: first answers, and changes of many servers at once.
#include "operator/plan/refine.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace atl::ctl {
namespace {

constexpr std::size_t kMostAnew = 16;  // most servers that are put anew at once

/// Grows a group from one server, always by the server that talks most to the group.
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
  std::vector<double> bytes_;  // (servers): bytes to the growing group
};

std::vector<int> servers_in(const Assignment& assignment, int domain) {
  const Domain& d = assignment.topology().domains()[std::size_t(domain)];
  std::vector<int> found;
  for (int s = 0; s < assignment.servers(); ++s)
    if (const int site = assignment.site_of(s); site >= d.first && site < d.last) found.push_back(s);
  assignment.looks().count(std::size_t(assignment.servers()));
  return found;
}

/// Puts servers into the domain. Servers that find no room there go to any site with room.
void fill(Assignment& assignment, const std::vector<int>& servers, int domain) {
  const int sites = int(assignment.topology().sites().size());
  int site = assignment.topology().domains()[std::size_t(domain)].first;
  for (const int server : servers) {
    for (; assignment.free_slots(site) == 0; site = (site + 1) % sites) assignment.looks().count(1);
    assignment.put(server, site);
  }
}

int draw_server(const Assignment& assignment, Draws& draws) {
  return int(draws.below(std::size_t(assignment.servers())));
}

/// Draws `count` servers, or a few less. With `along`, each next one is a peer of one drawn before, unless
/// that one has none. Otherwise all are drawn at random.
std::vector<int> draw_servers(const Assignment& assignment, std::size_t count, bool along, Draws& draws) {
  std::vector<int> drawn = {draw_server(assignment, draws)};
  for (std::size_t tries = 4 * count; tries > 0 && drawn.size() < count; --tries) {
    const auto peers = assignment.traffic().peers(drawn[draws.below(drawn.size())]);
    const int next =
        along && !peers.empty() ? peers[draws.below(peers.size())].server : draw_server(assignment, draws);
    if (std::ranges::find(drawn, next) == drawn.end()) drawn.push_back(next);
  }
  return drawn;
}

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

std::vector<int> exchange_domains(Assignment& assignment, Draws& draws) {
  const Topology& topology = assignment.topology();
  const int a = assignment.site_of(draw_server(assignment, draws));
  const int b = draws.below(2) == 0 ? assignment.site_of(draw_server(assignment, draws))
                                    : int(draws.below(topology.sites().size()));
  const int level = int(draws.below(std::size_t(topology.levels())));
  const int here = topology.domain_of(a, level), there = topology.domain_of(b, level);
  if (here == there) return {};
  const auto from = servers_in(assignment, here), to = servers_in(assignment, there);
  std::vector<int> moved = from;
  moved.insert(moved.end(), to.begin(), to.end());
  for (const int server : moved) assignment.put(server, Assignment::kNowhere);
  fill(assignment, from, there);
  fill(assignment, to, here);
  return moved;
}

std::vector<int> put_anew(Assignment& assignment, Refiner& refiner, Draws& draws) {
  const std::size_t servers = std::size_t(assignment.servers());
  const std::size_t most = std::clamp(servers * 5 / 8, std::size_t(2), kMostAnew);
  const std::size_t count = std::min(servers, 2 + draws.below(most - 1));
  std::vector<int> drawn = draw_servers(assignment, count, draws.below(2) == 0, draws);
  for (std::size_t i = drawn.size(); i-- > 1;) std::swap(drawn[i], drawn[draws.below(i + 1)]);
  for (const int server : drawn) assignment.put(server, Assignment::kNowhere);
  for (const int server : drawn) refiner.insert(server);
  return drawn;
}

}  // namespace atl::ctl
