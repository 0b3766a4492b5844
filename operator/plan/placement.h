// The placement of a job: which node takes which of its servers, so that the bytes which cross slow links
// cost least. Pure: the same question has the same answer, here, in the operator and in `atoll plan --nodes`.
//
// The cost of a placement is Σ over pairs of servers of (bytes an epoch between them) × (weight of the
// coarsest level at which their nodes differ; nothing on one node). Finding the cheapest is the quadratic
// assignment problem; this is how it is answered:
//
//  1. Brothers that look alike are reduced to as many as the job could use (assignment.h).
//  2. First answers: for each domain that could hold the whole job, its servers are divided top down
//     among the domain's children, groups that talk much together; also the servers in their plain order.
//  3. Each is refined (assignment.h): servers move to free slots or change places while that helps.
//  4. The best is disturbed and refined again, a number of times that falls with the size of the job.
//
//  An answer that costs no more than any can (assignment.h) ends the search at once.
//
// Ties: the first answer found, and answers are looked for in tight domains before wide ones, then by name.
// So a job fills the hole that fits it, and the same cluster gives the same answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/plan/topology.h"
#include "operator/plan/traffic.h"

namespace atl::ctl {

struct Placement {
  std::vector<std::string> nodes;  // by server
  double cost = 0;                 // Σ bytes × weight, an epoch
  double in_order_cost = 0;        // of the servers in their plain order on the nodes in theirs
};

/// `within`: a level (not the last) of which one domain must hold all servers; −1: the cluster. Server 0
/// stands on a site that takes it. Nothing where there is no room for all. Memory: linear in sites, servers
/// and pairs that talk.
std::optional<Placement> place(const Topology& topology, const Traffic& traffic, int within = -1);

/// Cost of a placement that is given.
double cost_of(const Topology& topology, const Traffic& traffic, const std::vector<std::string>& nodes);

}  // namespace atl::ctl
