#include "operator/plan/symmetry.h"

#include <algorithm>
#include <map>
#include <vector>

namespace atl::ctl {
namespace {

class Shapes {
 public:
  Shapes(const Topology& topology, int servers) : topology_(topology), servers_(servers) {}

  /// Appends the sites of a domain that stay, and returns the number of the domain's shape.
  int keep(int domain, std::vector<int>& kept) {
    const Domain& d = topology_.domains()[std::size_t(domain)];
    if (d.children.empty()) {
      kept.push_back(d.first);
      const Site& site = topology_.sites()[std::size_t(d.first)];
      return number_of({-1, site.slots, site.takes_first});
    }
    std::vector<int> shapes;
    std::map<int, int> seen;
    for (const int child : d.children) {
      const std::size_t before = kept.size();
      const int shape = keep(child, kept);
      if (seen[shape]++ < servers_)
        shapes.push_back(shape);
      else
        kept.resize(before);
    }
    std::ranges::sort(shapes);
    return number_of(std::move(shapes));
  }

 private:
  int number_of(std::vector<int> shape) {
    return numbers_.emplace(std::move(shape), numbers_.size()).first->second;
  }

  const Topology& topology_;
  int servers_;
  std::map<std::vector<int>, int> numbers_;  // what a node takes, or its children's shapes → number
};

}  // namespace

Topology without_twins(const Topology& topology, int servers) {
  std::vector<int> kept;
  if (!topology.sites().empty()) Shapes(topology, servers).keep(0, kept);
  return topology.keeping(kept, servers);
}

}  // namespace atl::ctl
