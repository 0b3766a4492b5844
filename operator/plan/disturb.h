// Changes of many servers at once, which the refinement of single servers doesn't find because each of its
// steps would cost more.
#pragma once

#include <vector>

#include "operator/plan/draws.h"
#include "operator/plan/refine.h"

namespace atl::ctl {

/// Exchanges the servers of two domains of one level, as far as their slots allow. Returns those that moved.
std::vector<int> exchange_domains(Assignment& assignment, Draws& draws);

/// Takes some servers away, by their traffic or at random, and puts each where it then pays least. Returns
/// them.
std::vector<int> put_anew(Assignment& assignment, Refiner& refiner, Draws& draws);

}  // namespace atl::ctl
