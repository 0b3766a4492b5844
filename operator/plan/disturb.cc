#include "operator/plan/disturb.h"

#include <algorithm>

namespace atl::ctl {
namespace {

constexpr std::size_t kMostAnew = 16;

std::vector<int> servers_in(const Assignment& assignment, int domain) {
  const Domain& d = assignment.topology().domains()[std::size_t(domain)];
  std::vector<int> found;
  for (int s = 0; s < assignment.servers(); ++s)
    if (const int site = assignment.site_of(s); site >= d.first && site < d.last) found.push_back(s);
  assignment.looks().count(std::size_t(assignment.servers()));
  return found;
}

/// Puts servers into the domain; those without room there go wherever there is some.
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

/// So many servers: at random or, `along` their traffic, each a peer of an earlier one.
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
