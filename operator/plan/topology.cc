#include "operator/plan/topology.h"

#include <algorithm>

#include "base/error.h"

namespace atl::ctl {
Topology::Topology(std::vector<Site> sites, std::vector<double> weights) : weights_(std::move(weights)) {
  for (const Site& site : sites)
    ATOLL_CHECK(site.domains.size() + 1 == weights_.size(), "node {} names {} domains of {} levels",
                site.node, site.domains.size(), weights_.size() - 1);
  std::erase_if(sites, [](const Site& site) { return site.slots <= 0; });
  sites_ = std::move(sites);
  const auto comes_before = [](const Site& a, const Site& b) {
    for (std::size_t level = 0; level < a.domains.size(); ++level)
      if (a.domains[level] != b.domains[level]) return a.domains[level] < b.domains[level];
    return a.node < b.node;
  };
  if (!std::ranges::is_sorted(sites_, comes_before)) std::ranges::sort(sites_, comes_before);
  domains_.push_back({"cluster", -1, -1, 0, 0, 0, int(sites_.size()), {}});
  for (std::size_t d = 0; d < domains_.size(); ++d) grow(int(d));
  path_.resize(sites_.size() * (weights_.size() + 1));
  for (std::size_t d = 0; d < domains_.size(); ++d) {
    for (int site = domains_[d].first; site < domains_[d].last; ++site) {
      path_[path_index(site, domains_[d].level)] = int(d);
      domains_[d].slots += sites_[std::size_t(site)].slots;
    }
    domains_[d].room = domains_[d].slots;
  }
}

Topology Topology::keeping(const std::vector<int>& sites, int most_slots) const {
  std::vector<Site> kept;
  for (const int site : sites) {
    kept.push_back(sites_[std::size_t(site)]);
    kept.back().slots = std::min(kept.back().slots, most_slots);
  }
  Topology smaller(std::move(kept), weights_);
  for (Domain& d : smaller.domains_)
    if (d.last > d.first)
      d.room = domains_[std::size_t(domain_of(sites[std::size_t(d.first)], d.level))].room;
  return smaller;
}

/// Appends the children of a domain. Each child is a run of sites with the same name at the next level.
void Topology::grow(int domain) {
  const int level = domains_[std::size_t(domain)].level + 1, last = domains_[std::size_t(domain)].last;
  if (level == levels()) return;
  for (int first = domains_[std::size_t(domain)].first; first < last;) {
    int end = first + 1;
    const std::string_view name = sites_[std::size_t(first)].domain_at(level);
    while (end < last && sites_[std::size_t(end)].domain_at(level) == name) ++end;
    domains_[std::size_t(domain)].children.push_back(int(domains_.size()));
    domains_.push_back({name, domain, level, 0, 0, first, end, {}});
    first = end;
  }
}

}  // namespace atl::ctl
