#include "operator/plan/exact.h"

#include <algorithm>
#include <limits>

#include "operator/plan/assignment.h"
#include "operator/plan/floor.h"

namespace atl::ctl {
namespace {

constexpr double kRounding = 1e-9;

class BranchAndBound {
 public:
  BranchAndBound(const Topology& topology, const Traffic& traffic, double known, long steps)
      : open_(topology, traffic),
        steps_(steps),
        sites_(topology.sites().size()),
        order_(order_of(traffic)),
        among_rest_(floors(topology, traffic, order_)),
        added_(order_.size() * sites_, 0),
        distances_(sites_) {
    best_.cost = known;
  }

  Proof run() {
    place(0, 0);
    best_.is_whole = steps_ >= 0;
    return std::move(best_);
  }

 private:
  /// Each server after those that it talks to most, the greatest talker first.
  static std::vector<int> order_of(const Traffic& traffic) {
    const auto count = std::size_t(traffic.servers());
    std::vector<double> to_placed(count, 0), all(count, 0);
    for (int s = 0; s < traffic.servers(); ++s)
      for (const auto& peer : traffic.peers(s)) all[std::size_t(s)] += peer.bytes;
    std::vector<bool> placed(count, false);
    std::vector<int> order;
    while (order.size() < count) {
      int next = -1;
      for (int s = 0; s < int(count); ++s) {
        const auto key = [&](int t) { return std::pair(to_placed[std::size_t(t)], all[std::size_t(t)]); };
        if (!placed[std::size_t(s)] && (next < 0 || key(s) > key(next))) next = s;
      }
      placed[std::size_t(next)] = true;
      order.push_back(next);
      for (const auto& peer : traffic.peers(next)) to_placed[std::size_t(peer.server)] += peer.bytes;
    }
    return order;
  }

  static std::vector<double> floors(const Topology& topology, const Traffic& traffic,
                                    const std::vector<int>& order) {
    const Floor floor(topology, traffic);
    std::vector<bool> is_open(order.size(), true);
    std::vector<double> among;
    for (const int server : order) {
      among.push_back(floor.among(is_open));
      is_open[std::size_t(server)] = false;
    }
    among.push_back(0);
    return among;
  }

  double& added(int server, std::size_t site) { return added_[std::size_t(server) * sites_ + site]; }

  void place(std::size_t depth, double cost) {
    if (cost + among_rest_[depth] + least_of_rest(depth) >= best_.cost * (1 - kRounding)) return;
    if (depth == order_.size()) {
      best_.cost = cost;
      best_.site_of = open_.site_of();
      return;
    }
    const int server = order_[depth];
    std::vector<std::size_t> sites;
    for (std::size_t site = 0; site < sites_; ++site)
      if (open_.free_slots(int(site)) > 0 && open_.may_stand(server, int(site)) &&
          !like_an_empty_one_before(site))
        sites.push_back(site);
    std::ranges::stable_sort(sites, {}, [&](std::size_t site) { return added(server, site); });
    for (const std::size_t site : sites) {
      if (--steps_ < 0) return;
      const double with = cost + added(server, site);
      open_.put(server, int(site));
      tell_peers(server, site, 1);
      place(depth + 1, with);
      tell_peers(server, site, -1);
      open_.put(server, Assignment::kNowhere);
    }
  }

  /// To those that are placed each other server pays at least what it costs on its cheapest free site.
  double least_of_rest(std::size_t depth) {
    double sum = 0;
    for (std::size_t i = depth; i < order_.size(); ++i) {
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t site = 0; site < sites_ && least > 0; ++site)
        if (open_.free_slots(int(site)) > 0) least = std::min(least, added(order_[i], site));
      sum += least;
    }
    return sum;
  }

  /// An empty node beside an empty node of the same slots in the same domain brings nothing new.
  bool like_an_empty_one_before(std::size_t site) const {
    const Topology& topology = open_.topology();
    const auto& sites = topology.sites();
    const int level = topology.levels() - 2, domain = topology.domain_of(int(site), level);
    if (open_.free_slots(int(site)) < sites[site].slots) return false;
    for (std::size_t other = site; other-- > 0 && topology.domain_of(int(other), level) == domain;)
      if (sites[other].slots == sites[site].slots && sites[other].takes_first == sites[site].takes_first &&
          open_.free_slots(int(other)) == sites[other].slots)
        return true;
    return false;
  }

  /// From every site: a level's weight holds outside the domain there, so that narrower ones overwrite it.
  void measure_from(std::size_t site) {
    const Topology& topology = open_.topology();
    std::ranges::fill(distances_, topology.weights()[0]);
    for (int level = 0; level < topology.levels(); ++level) {
      const Domain& inside = topology.domains()[std::size_t(topology.domain_of(int(site), level))];
      const double weight = level + 1 < topology.levels() ? topology.weights()[std::size_t(level) + 1] : 0;
      std::fill(distances_.begin() + inside.first, distances_.begin() + inside.last, weight);
    }
  }

  void tell_peers(int server, std::size_t site, double sign) {
    measure_from(site);
    for (const auto& [peer, bytes] : open_.traffic().peers(server))
      for (std::size_t s = 0; s < sites_; ++s) added(peer, s) += sign * bytes * distances_[s];
  }

  Proof best_;
  Assignment open_;
  long steps_;
  std::size_t sites_;
  std::vector<int> order_;
  std::vector<double> among_rest_;  // by depth: what those that aren't placed cost one another at the least
  std::vector<double> added_;      // (servers, sites): what a server would pay there to those that are placed
  std::vector<double> distances_;  // (sites) scratch
};

}  // namespace

Proof prove(const Topology& topology, const Traffic& traffic, double known, long steps) {
  if (steps < traffic.servers()) return {false, {}, known};  // not even one answer
  return BranchAndBound(topology, traffic, known, steps).run();
}

}  // namespace atl::ctl
