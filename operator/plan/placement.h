// The placement of a job: which node takes which of its servers, so that bytes over slow links cost least.
// Pure: the same question has the same answer, here, in the operator and in `atoll plan --nodes`.
//
// The cost of a placement is a sum over all pairs of servers. Each pair adds (bytes per epoch between the
// two) × (weight of the coarsest level at which their nodes differ; 0 on one node). Finding the cheapest
// placement is the quadratic assignment problem. It is answered like this:
//
//  1. Siblings that look alike are reduced to as many as the job could use. Of the domains of `within` that
//     look alike, one is searched (less_search.h).
//  2. First answers are made (answers.cc). For each domain that could hold the whole job, the servers are
//     divided top down among the domain's children; groups that talk much stay together. Servers in plain
//     order are a first answer too. Each answer is refined: servers move to free slots or change places while
//     that helps (refine.h).
//  3. The best answer is disturbed and refined again and again (answers.cc). After many rounds in vain, a
//     random first answer takes its place.
//
// An answer that costs no more than a lower bound (less_search.h) ends the search at once. Otherwise the
// search ends after a number of looks (assignment.h) that grows with the size of the job.
//
// Ties go to the first answer found. Answers are sought in tight domains before wide ones, then by name. So a
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
  double in_order_cost = 0;        // of the servers in plain order on the nodes in plain order
  std::int64_t looks = 0;          // looks that the search took
};

/// Finds the cheapest placement; nothing if there isn't room for all. `within` is a level (not the last) of
/// which one domain must hold all servers; −1: the cluster. Server 0 gets a site that takes it. `effort` is
/// the share of the usual looks that this search may take. Memory: a number per server and domain above the
/// nodes, and linear in sites and pairs that talk.
std::optional<Placement> place(const Topology& topology, const Traffic& traffic, int within = -1,
                               double effort = 1);

/// The cost of a given placement.
double cost_of(const Topology& topology, const Traffic& traffic, const std::vector<std::string>& nodes);

}  // namespace atl::ctl
