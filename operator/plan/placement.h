// The placement of a job: which node takes which of its servers, so that bytes over slow links cost least.
// Pure: the same question has the same answer, here, in the operator and in `atoll plan --nodes`.
//
// The cost of a placement is Σ over pairs of servers of (bytes per epoch between them) × (weight of the
// coarsest level at which their nodes differ; 0 on one node). Finding the cheapest is the quadratic
// assignment problem, answered like this:
//
//  1. Siblings that look alike are reduced to as many as the job could use, and of the domains of `within`
//     that look alike one is searched (less_search.h).
//  2. First answers: for each domain that could hold the whole job, its servers are divided top down among
//     the domain's children, with groups that talk much together; also the servers in plain order
//     (answers.cc). Each is refined: servers move to free slots or change places while that helps
//     (refine.h).
//  3. The best is disturbed and refined again and again (answers.cc). After many rounds in vain a random
//  first
//     answer takes its place.
//
// An answer that costs no more than a lower bound (less_search.h) ends the search at once; else it ends after
// a number of looks (assignment.h) that grows with the size of the job.
//
// Ties go to the first answer found. Answers are sought in tight domains before wide ones, then by name, so a
// job fills the hole that fits it, and the same cluster gives the same answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

struct Placement {
  std::vector<std::string> nodes;  // by server
  double cost = 0;                 // Σ bytes × weight, per epoch
  double in_order_cost = 0;        // of the servers in plain order on the nodes in theirs
  std::int64_t looks = 0;          // that the search made
};

/// `within`: a level (not the last) of which one domain must hold all servers; −1: the cluster. Server 0 gets
/// a site that takes it. Nothing where there isn't room for all. Memory: a number per server and domain above
/// the nodes, and linear in sites and pairs that talk. `effort`: the share of a search's looks that this one
/// may make.
std::optional<Placement> place(const Topology& topology, const Traffic& traffic, int within = -1,
                               double effort = 1);

/// The cost of a given placement.
double cost_of(const Topology& topology, const Traffic& traffic, const std::vector<std::string>& nodes);

}  // namespace atl::ctl
