// Room that is kept for a gang which has waited too long, so that gangs which need less don't take each node
// as it becomes free, for ever.
//
// All pods of jobs end some day; other people's may not. So a gang that doesn't fit now is given the nodes
// that it could have once the jobs on them have ended, and of those the ones that lack the least:
//
//  1. In each domain that must hold the whole gang (or in the cluster): room where servers fit already comes
//     first, then nodes where the smallest share of what the servers need is lacking; as much as the gang
//     needs.
//  2. Of several domains the one that lacks the least.
//  3. On these nodes what the gang will need is kept. The rest of them is anybody's.
//
// Nothing may be put where room is kept, so what is lacking only becomes less: planned anew whenever somebody
// asks, the answer changes only for one that is nearer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/plan/gang.h"

namespace atl::ctl {

struct Reservation {
  std::string job;                 // for whom
  std::vector<std::string> nodes;  // by name
  std::vector<PodState> room;      // what is kept there, as pods that stand there
};

/// Pure. Nothing where the gang would not fit even if all jobs had ended: then nobody gains by its being
/// waited for.
std::optional<Reservation> reserve(const Gang& gang, const Snapshot& snapshot);

/// "n1, n2 and 3 more are"
std::string text_of(const Reservation& reservation);

}  // namespace atl::ctl
