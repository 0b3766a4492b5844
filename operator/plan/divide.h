// First answers of the placement: servers divided top down among domains, those that talk much kept together.
#pragma once

#include "operator/plan/assignment.h"

namespace atl::ctl {

/// Which child of a domain takes servers next.
enum class Fill {
  kTightest,  // the smallest that holds all that are left, else the largest
  kLargest,
};

/// Puts all servers, none of which stands anywhere yet, into a domain that has slots for them. `first` is the
/// server around which the first group grows.
void divide(Assignment& assignment, int domain, Fill fill, int first);

/// Server 0, 1, … on the sites in their order: what a hostfile without thought gives. Some site takes server 0.
void in_order(Assignment& assignment);

}  // namespace atl::ctl
