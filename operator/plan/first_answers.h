// First answers of the placement, which are refined later. All servers, none of which has a site yet, get
// one.
#pragma once

#include <vector>

#include "operator/plan/assignment.h"
#include "operator/plan/draws.h"

namespace atl::ctl {

/// Which child of a domain takes servers next.
enum class Fill {
  kTightest,  // the smallest that holds all remaining servers, else the largest
  kLargest,
  kRandom,  // any, the likelier the more slots it has
};

/// Divides the servers top down among the children of a domain that has slots for them; those that talk much
/// stay together. The first group grows around `first`, or all around random ones.
void divide(Assignment& assignment, int domain, Fill fill, int first, Draws& draws);

/// Servers 0, 1, … on a domain's sites in their order, as in a careless hostfile; by server, the site. Needs
/// a site that takes server 0.
std::vector<int> in_order(const Topology& topology, const Domain& domain, int servers);

}  // namespace atl::ctl
