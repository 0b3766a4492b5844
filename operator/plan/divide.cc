#include "operator/plan/divide.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace atl::ctl {
namespace {

/// Grows groups of servers around one of them, always adding the one that says most to the group.
class Divider {
 public:
  Divider(Assignment& assignment, Fill fill)
      : assignment_(assignment), fill_(fill), bytes_(std::size_t(assignment.traffic().servers()), 0) {}

  /// servers[0] is where the first group begins.
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
      // Those that hold all come first, tightest first; of the others the largest.
      return fill_ == Fill::kTightest && slots >= servers ? std::pair(0, room) : std::pair(1, -slots);
    });
  }

  /// Removes `size` servers that talk to each other from `servers`, beginning with the first.
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
  std::vector<double> bytes_;  // by server, to the group that grows
};

}  // namespace

void divide(Assignment& assignment, int domain, Fill fill, int first) {
  std::vector<int> servers(std::size_t(assignment.traffic().servers()));
  std::iota(servers.begin(), servers.end(), 0);
  std::rotate(servers.begin(), servers.begin() + first, servers.begin() + first + 1);
  Divider(assignment, fill).divide(domain, std::move(servers));
}

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

}  // namespace atl::ctl
