#include "operator/plan/twins.h"

#include <algorithm>
#include <map>
#include <utility>

namespace atl::ctl {

Twins::Twins(const Topology& topology, int servers)
    : topology_(topology),
      servers_(servers),
      shapes_(topology.domains().size()),
      kept_(topology.domains().size()) {
  // A node's shape is what it takes; that of a domain above is a negative number, given to its level and its
  // children's shapes.
  std::map<std::vector<int>, int> numbers;
  std::vector<std::pair<int, int>> children;  // shape, domain
  std::vector<int> shape;
  for (std::size_t d = topology.domains().size(); d-- > 0;) {
    const Domain& domain = topology.domains()[d];
    if (domain.children.empty()) {
      const Site& site = topology.sites()[std::size_t(domain.first)];
      shapes_[d] = 2 * std::min(site.slots, servers) + int(site.takes_first);
      continue;
    }
    children.clear();
    for (const int child : domain.children) children.emplace_back(shape_of(child), child);
    std::ranges::sort(children);
    shape.clear();
    for (const auto& [of_child, child] : children) {
      const std::size_t size = shape.size(), most = std::size_t(servers);
      if (size >= most && shape[size - most] == of_child) continue;
      shape.push_back(of_child);
      kept_[d].push_back(child);
    }
    std::ranges::sort(kept_[d]);
    shape.push_back(domain.level);
    shapes_[d] = numbers.emplace(shape, -1 - int(numbers.size())).first->second;
  }
}

void Twins::keep(int domain, std::vector<int>& sites) const {
  if (topology_.domains()[std::size_t(domain)].children.empty())
    sites.push_back(topology_.domains()[std::size_t(domain)].first);
  for (const int child : kept_[std::size_t(domain)]) keep(child, sites);
}

Topology Twins::without_twins(int domain) const {
  std::vector<int> sites;
  if (!topology_.sites().empty()) keep(domain, sites);
  return topology_.keeping(sites, servers_);
}

}  // namespace atl::ctl
