// The best answer of a small placement, proven by branch and bound: each server in turn on every site, given up
// where what is placed and the least that each other server must add cost as much as the best answer known.
#pragma once

#include "operator/plan/assignment.h"

namespace atl::ctl {

/// Replaces `assignment` by a best one. False where `steps` placements of a server did not suffice; it is then
/// the best that was found.
bool prove(Assignment& assignment, long steps);

}  // namespace atl::ctl
