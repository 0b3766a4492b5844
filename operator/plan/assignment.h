// A tentative answer of the placement: which server is on which site, its cost, and the cost of a change.
// Memory: one number per server, site and domain.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

class Assignment {
 public:
  static constexpr int kNowhere = -1;

  /// At first no server has a site. Both arguments must outlive the assignment.
  Assignment(const Topology& topology, const Traffic& traffic);

  const Topology& topology() const { return *topology_; }
  const Traffic& traffic() const { return *traffic_; }
  int site_of(int server) const { return site_of_[std::size_t(server)]; }
  const std::vector<int>& site_of() const { return site_of_; }
  int free_slots(int site) const { return free_[std::size_t(site)]; }
  /// Only server 0 is restricted (Site::takes_first).
  bool may_stand(int server, int site) const {
    return server != 0 || topology_->sites()[std::size_t(site)].takes_first;
  }

  /// Puts a server on a site with a free slot, or takes it away (kNowhere).
  void put(int server, int site);
  void swap(int a, int b);

  /// Σ over pairs of bytes × distance, for servers that have a site. A server on a forbidden site costs more
  /// than any allowed placement, so a search leads away from there, and no best answer has one unless every
  /// answer does.
  double cost() const;
  /// What `server` would pay on `site`, with all others where they are.
  double cost_at(int server, int site) const;
  /// The same for every site at once, into `costs` (sites).
  void costs_everywhere(int server, std::vector<double>& costs);
  /// The change of cost() when a and b change places; `a_there` is cost_at(a, site of b), `a_here` is
  /// cost_at(a, its own site).
  double swap_gain(int a, int b, double a_here, double a_there) const;

 private:
  double bytes_cost_at(int server, int site) const;
  double penalty(int server, int site) const { return may_stand(server, site) ? 0 : penalty_; }

  const Topology* topology_;
  const Traffic* traffic_;
  double penalty_ = 0;
  std::vector<int> site_of_, free_;
  std::vector<double> bytes_in_;  // by domain, for one server: a buffer of costs_everywhere()
};

/// Moves single servers to free slots and swaps pairs while the cost falls. Deterministic.
void refine(Assignment& assignment);

/// Disturbs and refines `rounds` times, and keeps the better answer. Deterministic for a seed.
void search_on(Assignment& assignment, int rounds, std::uint64_t seed);

/// The topology without interchangeable nodes: its cheapest answer costs as much as that on `topology`.
Topology without_twins(const Topology& topology, int servers);

/// A lower bound on what the servers cost, wherever they are placed.
double floor_of(const Topology& topology, const Traffic& traffic);

}  // namespace atl::ctl
