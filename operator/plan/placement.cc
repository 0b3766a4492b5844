#include "operator/plan/placement.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "operator/plan/assignment.h"

namespace atl::ctl {
namespace {

// First answers of the placement: servers are divided top down among domains, and those that talk much stay
// together.

/// Which child of a domain takes servers next.
enum class Fill {
  kTightest,  // the smallest that holds all remaining servers, else the largest
  kLargest,
};

/// Grows groups around a server by always adding the server that talks most to the group.
class Divider {
 public:
  Divider(Assignment& assignment, Fill fill)
      : assignment_(assignment), fill_(fill), bytes_(std::size_t(assignment.traffic().servers()), 0) {}

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
      divide(*next, take_group(servers, std::min(slots, int(servers.size()))));
      open.erase(next);
    }
  }

 private:
  std::vector<int>::iterator choose(std::vector<int>& open, int servers) const {
    const auto& domains = assignment_.topology().domains();
    return std::ranges::min_element(open, {}, [&](int d) {
      const auto& [slots, room] = std::pair(domains[std::size_t(d)].slots, domains[std::size_t(d)].room);
      // Domains that hold all servers come first, tightest first; then the others, largest first.
      return fill_ == Fill::kTightest && slots >= servers ? std::pair(0, room) : std::pair(1, -slots);
    });
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
    }
    for (const int server : group)
      for (const auto& [peer, bytes] : assignment_.traffic().peers(server)) bytes_[std::size_t(peer)] = 0;
    return group;
  }

  Assignment& assignment_;
  Fill fill_;
  std::vector<double> bytes_;  // (servers) to the growing group
};

/// Puts all servers, none of which has a site yet, into a domain that has slots for them. The first group
/// grows around `first`.
void divide(Assignment& assignment, int domain, Fill fill, int first) {
  std::vector<int> servers(std::size_t(assignment.traffic().servers()));
  std::iota(servers.begin(), servers.end(), 0);
  std::rotate(servers.begin(), servers.begin() + first, servers.begin() + first + 1);
  Divider(assignment, fill).divide(domain, std::move(servers));
}

/// Servers 0, 1, … on the sites in their order, as in a careless hostfile. Needs a site that takes server 0.
void in_order(Assignment& assignment) {
  int site = 0;
  while (!assignment.may_stand(0, site)) ++site;
  assignment.put(0, site);
  site = 0;
  for (int server = 1; server < assignment.traffic().servers(); ++server) {
    while (assignment.free_slots(site) == 0) ++site;
    assignment.put(server, site);
  }
}

// Bounds the search, in evaluations of a server on a site (about a nanosecond each).
constexpr double kSearchLooks = 8e6;
constexpr double kRounding = 1e-9;
constexpr int kMostStarts = 40, kMostRounds = 800;

std::vector<std::string> nodes_of(const Topology& topology, const std::vector<int>& site_of) {
  std::vector<std::string> nodes;
  for (const int site : site_of) nodes.push_back(topology.sites()[std::size_t(site)].node);
  return nodes;
}

/// The domains at or below `level` that hold so many servers, tight ones first.
std::vector<int> domains_that_hold(const Topology& topology, int servers) {
  std::vector<int> found;
  for (std::size_t d = 0; d < topology.domains().size(); ++d)
    if (topology.domains()[d].slots >= servers) found.push_back(int(d));
  std::ranges::stable_sort(found, {}, [&](int d) { return topology.domains()[std::size_t(d)].room; });
  return found;
}

/// Steps 2 to 4 of the search, on sites that are all allowed.
class Search {
 public:
  Search(const Topology& topology, const Traffic& traffic) : topology_(topology), traffic_(traffic) {}

  Placement run() {
    Assignment best = first_answers();
    if (best.cost() > floor_of(topology_, traffic_) * (1 + kRounding))
      search_on(best, int(std::min(affordable_, double(kMostRounds))), 1);
    Placement answer;
    answer.nodes = nodes_of(topology_, best.site_of());
    answer.cost = best.cost();
    return answer;
  }

 private:
  Assignment first_answers() {
    const double servers = traffic_.servers(), sites = double(topology_.sites().size());
    affordable_ = kSearchLooks / (servers * (sites + servers) * topology_.levels());
    Assignment best(topology_, traffic_);
    double least = -1;
    int starts = 0;
    const auto consider = [&](Assignment candidate) {
      refine(candidate);
      const double cost = candidate.cost();
      if (least < 0 || cost < least * (1 - kRounding)) {
        least = cost;
        best = std::move(candidate);
      }
    };
    for (const int domain : domains_that_hold(topology_, traffic_.servers())) {
      for (const Fill fill : {Fill::kTightest, Fill::kLargest}) {
        if (starts >= std::max(2.0, std::min(affordable_, double(kMostStarts)))) break;
        Assignment candidate(topology_, traffic_);
        divide(candidate, domain, fill, starts++ % traffic_.servers());
        consider(std::move(candidate));
      }
    }
    Assignment plain(topology_, traffic_);
    in_order(plain);
    consider(std::move(plain));
    return best;
  }

  const Topology& topology_;
  const Traffic& traffic_;
  double affordable_ = 0;  // refinements that the budget allows
};

bool takes_first(const Topology& topology, const Domain& domain) {
  const auto sites = topology.sites().begin();
  return std::any_of(sites + domain.first, sites + domain.last, [](const Site& s) { return s.takes_first; });
}

/// Places within one domain, which has a site for server 0.
Placement place_inside(const Topology& topology, const Traffic& traffic) {
  const Topology reduced = without_twins(topology, traffic.servers());
  Placement answer = Search(reduced, traffic).run();
  Assignment plain(topology, traffic);
  in_order(plain);
  answer.in_order_cost = plain.cost();
  return answer;
}

}  // namespace

std::optional<Placement> place(const Topology& topology, const Traffic& traffic, int within) {
  ATOLL_CHECK(within >= -1 && within < topology.levels(), "level {} of {}", within, topology.levels());
  std::optional<Placement> best;
  std::vector<int> tight_first = domains_that_hold(topology, traffic.servers());
  std::erase_if(tight_first, [&](int d) {
    const Domain& domain = topology.domains()[std::size_t(d)];
    return domain.level != within || !takes_first(topology, domain);
  });
  for (const int d : tight_first) {
    const Domain& domain = topology.domains()[std::size_t(d)];
    const auto begin = topology.sites().begin();
    const Topology inside(std::vector<Site>(begin + domain.first, begin + domain.last), topology.weights());
    Placement answer = place_inside(inside, traffic);
    if (!best || answer.cost < best->cost) best = std::move(answer);
  }
  return best;
}

double cost_of(const Topology& topology, const Traffic& traffic, const std::vector<std::string>& nodes) {
  std::map<std::string, int> site_of;
  for (std::size_t s = 0; s < topology.sites().size(); ++s) site_of[topology.sites()[s].node] = int(s);
  double twice = 0;
  for (int a = 0; a < traffic.servers(); ++a)
    for (const auto& [b, bytes] : traffic.peers(a))
      twice +=
          bytes * topology.distance(site_of.at(nodes[std::size_t(a)]), site_of.at(nodes[std::size_t(b)]));
  return twice / 2;
}

}  // namespace atl::ctl
