// Improves a given answer: a local search until no single change helps, and a search that goes on from there
// by disturbing the best answer again and again.
#include "operator/plan/assignment.h"

#include <algorithm>

#include "base/random.h"

namespace atl::ctl {
namespace {

constexpr double kWorthwhile = 1e-9;  // of the whole cost; a smaller gain is rounding
constexpr int kMostPasses = 30;  // it ends after a handful; the limit is for gains that are rounding errors

struct Change {
  double gain = 0;  // negative: cheaper
  int site = -1;    // to move to, or
  int server = -1;  // to swap with
};

class Refiner {
 public:
  explicit Refiner(Assignment& assignment) : assignment_(assignment) {
    least_ = kWorthwhile * assignment.cost();
    residents_.resize(assignment.topology().sites().size());
    for (int s = 0; s < assignment.traffic().servers(); ++s) resident(assignment.site_of(s)).push_back(s);
  }

  /// Returns whether something changed.
  bool pass() {
    bool changed = false;
    for (int server = 0; server < assignment_.traffic().servers(); ++server) {
      const Change best = best_change(server);
      if (best.gain >= -least_) continue;
      apply(server, best);
      changed = true;
    }
    return changed;
  }

 private:
  std::vector<int>& resident(int site) { return residents_[std::size_t(site)]; }

  /// The best change of one server. Tries only sites on which the server itself would pay less, because in
  /// any swap that helps, one of the two does.
  Change best_change(int server) {
    assignment_.costs_everywhere(server, costs_);
    const int here = assignment_.site_of(server);
    const double now = costs_[std::size_t(here)];
    Change best;
    for (int site = 0; site < int(costs_.size()); ++site) {
      const double there = costs_[std::size_t(site)];
      if (site == here || there - now >= -least_) continue;
      if (assignment_.free_slots(site) > 0 && there - now < best.gain) best = {there - now, site, -1};
      for (const int other : resident(site)) {
        const double gain = assignment_.swap_gain(server, other, now, there);
        if (gain < best.gain) best = {gain, -1, other};
      }
    }
    return best;
  }

  void apply(int server, const Change& change) {
    const int here = assignment_.site_of(server);
    if (change.server < 0) {
      std::erase(resident(here), server);
      resident(change.site).push_back(server);
      assignment_.put(server, change.site);
    } else {
      std::ranges::replace(resident(here), server, change.server);
      std::ranges::replace(resident(assignment_.site_of(change.server)), change.server, server);
      assignment_.swap(server, change.server);
    }
  }

  Assignment& assignment_;
  double least_ = 0;
  std::vector<std::vector<int>> residents_;  // by site
  std::vector<double> costs_;                // (sites) a buffer
};

/// Exchanges the servers of two domains of one level, as far as their slots allow. Steps of one server don't
/// find this change, because each of them would cost more.
class Disturbance {
 public:
  Disturbance(Assignment& assignment, std::uint64_t seed) : assignment_(assignment), state_(seed) {}

  void apply() {
    const Topology& topology = assignment_.topology();
    const int a = int(draw(topology.sites().size())), b = int(draw(topology.sites().size()));
    const int level = int(draw(std::uint64_t(topology.levels())));
    const auto from = servers_in(topology.domain_of(a, level)), to = servers_in(topology.domain_of(b, level));
    if (topology.domain_of(a, level) == topology.domain_of(b, level)) return;
    for (const int server : from) assignment_.put(server, Assignment::kNowhere);
    for (const int server : to) assignment_.put(server, Assignment::kNowhere);
    fill(from, topology.domain_of(b, level));
    fill(to, topology.domain_of(a, level));
  }

 private:
  std::uint64_t draw(std::uint64_t below) { return (state_ = mix64(state_)) % below; }

  std::vector<int> servers_in(int domain) const {
    const Domain& d = assignment_.topology().domains()[std::size_t(domain)];
    std::vector<int> found;
    for (int s = 0; s < assignment_.traffic().servers(); ++s)
      if (const int site = assignment_.site_of(s); site >= d.first && site < d.last) found.push_back(s);
    return found;
  }

  /// Puts servers into the domain; those without room there go wherever there is some.
  void fill(const std::vector<int>& servers, int domain) {
    const int sites = int(assignment_.topology().sites().size());
    int site = assignment_.topology().domains()[std::size_t(domain)].first;
    for (const int server : servers) {
      while (assignment_.free_slots(site) == 0) site = (site + 1) % sites;
      assignment_.put(server, site);
    }
  }

  Assignment& assignment_;
  std::uint64_t state_;
};

}  // namespace

void refine(Assignment& assignment) {
  Refiner refiner(assignment);
  for (int passes = 0; passes < kMostPasses && refiner.pass();) ++passes;
}

void search_on(Assignment& assignment, int rounds, std::uint64_t seed) {
  double best = assignment.cost();
  for (int round = 0; round < rounds; ++round) {
    Assignment other = assignment;
    Disturbance(other, mix64(seed + std::uint64_t(round))).apply();
    refine(other);
    const double cost = other.cost();
    if (cost >= best * (1 - kWorthwhile)) continue;
    best = cost;
    assignment = std::move(other);
  }
}

}  // namespace atl::ctl
