// A tentative answer of the placement: which server is on which site, what each pays, and how many bytes each
// sends into each domain. A change updates these sums, so that a search needn't add up a server's peers again
// for each site and each partner that it considers.
// Memory: one number per server and domain above the nodes, and a few per server and site.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

/// The measure of a search's effort: a look reads one number of a server, a site or a pair that talks.
/// Searches are bounded by looks and not by a clock, so that the same question has the same answer on any
/// machine.
class Looks {
 public:
  explicit Looks(std::int64_t most) : left_(most) {}

  void count(std::size_t looks) { left_ -= std::int64_t(looks); }
  bool are_left() const { return left_ > 0; }
  std::int64_t left() const { return left_; }

 private:
  std::int64_t left_;
};

class Assignment {
 public:
  static constexpr int kNowhere = -1;

  /// At first no server has a site. All arguments must outlive the assignment; changes count as looks.
  Assignment(const Topology& topology, const Traffic& traffic, Looks& looks);

  const Topology& topology() const { return *topology_; }
  const Traffic& traffic() const { return *traffic_; }
  Looks& looks() const { return *looks_; }
  int servers() const { return int(site_of_.size()); }
  int site_of(int server) const { return site_of_[std::size_t(server)]; }
  const std::vector<int>& site_of() const { return site_of_; }
  int free_slots(int site) const { return free_[std::size_t(site)]; }
  int servers_in(int domain) const { return servers_in_[std::size_t(domain)]; }
  /// The servers of a site: `for (int s = first_on(site); s != kNowhere; s = next_to(s))`.
  int first_on(int site) const { return first_on_[std::size_t(site)]; }
  int next_to(int server) const { return next_to_[std::size_t(server)]; }

  /// What a server pays for standing there, besides its bytes. Only server 0 is restricted
  /// (Site::takes_first). A forbidden site costs more than any allowed placement, so a search leads away from
  /// there, and no best answer has one unless every answer does.
  double penalty(int server, int site) const {
    return server != 0 || topology_->sites()[std::size_t(site)].takes_first ? 0 : penalty_;
  }

  /// Puts a server on a site with a free slot, or takes it away (kNowhere).
  void put(int server, int site);
  void swap(int a, int b);
  /// Puts all servers where they were.
  void restore(const std::vector<int>& site_of);

  /// Σ over pairs of bytes × distance, for servers that have a site, and penalties.
  double cost() const;
  /// Σ over the peers of a server of bytes × distance.
  double paid(int server) const { return paid_[std::size_t(server)]; }
  /// What rounding may do to a difference of costs.
  double rounding() const { return rounding_; }

  /// By server: its bytes into a domain above the nodes.
  std::span<const double> bytes_into(int domain) const {
    return {bytes_into_.data() + std::size_t(domain) * site_of_.size(), site_of_.size()};
  }

 private:
  /// Whether there is a slot or not.
  void move(int server, int site);
  void add_bytes(int server, int domain, int sign);
  void leave(int server, int site);
  void enter(int server, int site);

  const Topology* topology_;
  const Traffic* traffic_;
  Looks* looks_;
  double penalty_ = 0, rounding_ = 0;
  std::vector<int> site_of_, free_, servers_in_;
  std::vector<int> first_on_, next_to_;  // lists of the servers of each site
  std::vector<double> paid_;
  std::vector<double> bytes_into_;  // (domains above the nodes, servers)
};

}  // namespace atl::ctl
