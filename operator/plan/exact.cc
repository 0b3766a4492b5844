#include "operator/plan/exact.h"

#include <algorithm>
#include <limits>

namespace atl::ctl {
namespace {

constexpr double kRounding = 1e-9;

class BranchAndBound {
 public:
  BranchAndBound(Assignment& best, long steps)
      : best_(best),
        open_(best.topology(), best.traffic()),
        bound_(best.cost()),
        steps_(steps),
        sites_(best.topology().sites().size()),
        order_(order_of(best.traffic())),
        added_(order_.size() * sites_, 0) {}

  bool run() {
    place(0, 0);
    return steps_ >= 0;
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

  double& added(int server, std::size_t site) { return added_[std::size_t(server) * sites_ + site]; }

  void place(std::size_t depth, double cost) {
    if (cost + least_of_rest(depth) >= bound_ * (1 - kRounding)) return;
    if (depth == order_.size()) {
      bound_ = cost;
      best_ = open_;
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

  /// Every server that isn't placed pays at least its cheapest free site's cost to those that are.
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
    const auto& sites = open_.topology().sites();
    if (site == 0 || open_.free_slots(int(site)) < sites[site].slots) return false;
    for (std::size_t other = site; other-- > 0 && sites[other].domains == sites[site].domains;)
      if (sites[other].slots == sites[site].slots && sites[other].takes_first == sites[site].takes_first &&
          open_.free_slots(int(other)) == sites[other].slots)
        return true;
    return false;
  }

  void tell_peers(int server, std::size_t site, double sign) {
    for (const auto& [peer, bytes] : open_.traffic().peers(server))
      for (std::size_t s = 0; s < sites_; ++s)
        added(peer, s) += sign * bytes * open_.topology().distance(int(s), int(site));
  }

  Assignment& best_;
  Assignment open_;
  double bound_;
  long steps_;
  std::size_t sites_;
  std::vector<int> order_;
  std::vector<double> added_;  // (servers, sites): what a server would pay there to those that are placed
};

}  // namespace

bool prove(Assignment& assignment, long steps) {
  return BranchAndBound(assignment, steps).run();
}

}  // namespace atl::ctl
