// Two ways to shorten the search for a placement without a worse answer. Domains that look the same are
// searched once, and an answer that costs no more than a lower bound ends the search.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

// Domains that look the same to a job: nodes of a rack with equal slots, or racks of a zone with equal nodes.
// A job of n servers uses at most n of such siblings, and any n will do. If one domain must hold the whole
// job, one of the siblings is enough to be searched. So a cluster of equal nodes shrinks to the size of the
// job.

class Twins {
 public:
  /// `servers` is the job's number of servers. The topology must outlive the object.
  Twins(const Topology& topology, int servers);

  /// Domains of the same shape are interchangeable.
  int shape_of(int domain) const { return shapes_[std::size_t(domain)]; }
  /// A topology of the sites of one domain without twins; of each set of twins, the first by name stay. Its
  /// cheapest answer costs as much as the domain's. Domain 0 is the whole cluster.
  Topology without_twins(int domain) const;

 private:
  void keep(int domain, std::vector<int>& sites) const;

  const Topology& topology_;
  int servers_;
  std::vector<int> shapes_;             // by domain
  std::vector<std::vector<int>> kept_;  // by domain: the children that stay
};

// A lower bound on the cost of any placement. Only so many other servers have room on a server's node, and
// only so many in its rack; the rest are further away. The bound assumes that each server's busiest peers are
// its nearest. An answer that costs no more is a best one, and ends the search.

class Floor {
 public:
  /// Sorts each server's peers once, for all topologies. Memory: two numbers per pair that talks.
  explicit Floor(const Traffic& traffic);

  /// The bound for placements inside one domain; domain 0 is the whole cluster.
  double of(const Topology& topology, int domain) const;

 private:
  std::vector<std::vector<double>> most_;  // by server: bytes to its k busiest peers, k = 0, 1 …
};

}  // namespace atl::ctl
