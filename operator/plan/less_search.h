// How the search for a placement is kept short, without a worse answer: domains that look the same are
// searched once, and an answer that costs no more than a lower bound ends it.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

// Domains that look the same to a job: nodes of equal slots in one rack, racks of equal nodes in one zone. Of
// such siblings a job of n servers uses at most n, and any n will do. Of those of which one must hold the
// whole job, one is enough to be searched. So a cluster of equal nodes becomes as small as the job.

class Twins {
 public:
  /// `servers`: of the job. The topology must outlive the object.
  Twins(const Topology& topology, int servers);

  /// Domains of the same shape are interchangeable.
  int shape_of(int domain) const { return shapes_[std::size_t(domain)]; }
  /// A topology of the sites of one domain without twins (the first by name stay): its cheapest answer costs
  /// as much as the domain's. With domain 0, of the whole cluster.
  Topology without_twins(int domain) const;

 private:
  void keep(int domain, std::vector<int>& sites) const;

  const Topology& topology_;
  int servers_;
  std::vector<int> shapes_;             // by domain
  std::vector<std::vector<int>> kept_;  // by domain: its children without twins
};

// A lower bound on the cost of any placement, from how many servers have room near one another: a server
// finds at most so many others on its node, so many in its rack, and the rest are further away. An answer
// that costs no more is a best one, and ends the search.

class Floor {
 public:
  /// Sorts each server's peers once, for all topologies. Memory: one number per pair that talks, twice.
  explicit Floor(const Traffic& traffic);

  /// The bound for placements inside one domain; domain 0 is the whole cluster.
  double of(const Topology& topology, int domain) const;

 private:
  std::vector<std::vector<double>>
      most_;  // by server: bytes with the k peers that it talks to most, k = 0, 1 …
};

}  // namespace atl::ctl
