// Room that is kept for a gang which has waited too long, so that gangs which need less don't for ever take
// each node as it becomes free.
//
// All jobs' pods end some day; other people's may not. So a gang that doesn't fit now gets nodes that it
// could have once the jobs on them have ended, namely those that lack the least:
//
//  1. In each domain that must hold the whole gang (or in the cluster), as many nodes as the gang needs:
//     first those where servers fit already, then those that lack the smallest share of what servers need.
//  2. Of several domains, the one that lacks the least.
//  3. What the gang will need on these nodes is kept. The rest of them is open to anybody.
//
// Nothing may be put where room is kept, so the lack can only shrink: when planned again, the answer changes
// only to one that is nearer.
//
// Room can be kept for several gangs if they need different nodes: the later one's on nodes that the earlier
// could never use. So none waits for another, and a gang that waits for GPUs for days doesn't keep those that
// need none from having their turn.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/plan/gang.h"

namespace atl::ctl {

struct Reservation {
  std::string job;                 // the gang's job
  std::vector<std::string> nodes;  // in order of name
  std::vector<PodState> room;      // the kept room, as pods that occupy it: one a node
  /// Nodes that a later reservation must leave out: those where one of its servers could run once all jobs
  /// there have ended, and `nodes`.
  std::set<std::string> claimed;
};

/// Pure. Keeps no room on nodes of `but`. Nothing where the gang would not fit on the others even if all jobs
/// had ended: then waiting for it helps nobody.
std::optional<Reservation> reserve(const Gang& gang, const Snapshot& snapshot,
                                   const std::set<std::string>& but = {});

/// "n1, n2 and 3 more are"
std::string text_of(const Reservation& reservation);

}  // namespace atl::ctl
