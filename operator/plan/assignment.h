// A tentative answer of the placement. It knows the site of each server, what each server pays, and how many
// bytes each server sends into each domain. A change of one site updates these sums, so a search needn't add
// up a server's peers again for each site and each partner that it considers.
// Memory: one number per server and domain above the nodes, and a few per server and site.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

/// The measure of a search's effort. One look reads one number of a server, of a site, or of a pair that
/// talks. Searches are limited by looks and not by time, so that the same question has the same answer on any
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

  /// No server has a site at first. All arguments must outlive the assignment. Changes count as looks.
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

  /// What a server pays on a site besides the cost of its bytes. Only server 0 is restricted
  /// (Site::takes_first). A forbidden site costs more than any allowed placement. So a search leads away from
  /// it, and the best answer has one only if every answer does.
  double penalty(int server, int site) const {
    return server != 0 || topology_->sites()[std::size_t(site)].takes_first ? 0 : penalty_;
  }

  /// Puts a server on a site with a free slot, or takes it off its site (kNowhere).
  void put(int server, int site);
  void swap(int a, int b);
  /// Puts every server on its site in `site_of`.
  void restore(const std::vector<int>& site_of);

  /// Σ over pairs of bytes × distance, plus the penalties. Servers without a site don't count.
  double cost() const;
  /// Σ over the peers of a server of bytes × distance.
  double paid(int server) const { return paid_[std::size_t(server)]; }
  /// The difference of two costs that rounding alone may cause.
  double rounding() const { return rounding_; }

  /// By server: the bytes between it and the servers in `domain`, which lies above the nodes.
  std::span<const double> bytes_into(int domain) const {
    return {bytes_into_.data() + std::size_t(domain) * site_of_.size(), site_of_.size()};
  }

 private:
  /// Moves a server, whether the site has a free slot or not.
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
