// Domains that look the same to a job: nodes of equal slots in one rack, racks of equal nodes in one zone. Of
// such siblings a job of n servers uses at most n, and any n will do. Of those of which one must hold the
// whole job, one is enough to be searched. So a cluster of equal nodes becomes as small as the job.
#pragma once

#include <vector>

#include "operator/plan/topology.h"

namespace atl::ctl {

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

}  // namespace atl::ctl
