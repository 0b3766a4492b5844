// Better answers from a given one: local search until no single change helps, and a search that goes on from
// there by disturbing the best answer again and again.
#pragma once

#include <cstdint>

#include "operator/plan/assignment.h"

namespace atl::ctl {

/// Moves single servers to free slots and swaps pairs while the cost falls. Deterministic.
void refine(Assignment& assignment);

/// Disturbs, refines, keeps what is better, `rounds` times. Deterministic for a seed.
void search_on(Assignment& assignment, int rounds, std::uint64_t seed);

}  // namespace atl::ctl
