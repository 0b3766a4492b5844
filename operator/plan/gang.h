// A job's pods as one gang: either all of them have a place or none starts. Says what a job needs, finds the
// nodes that can give it, places it, and puts into words what it costs, or what is in its way.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "job/job.h"
#include "job/layout.h"
#include "operator/plan/node_filter.h"
#include "operator/plan/placement.h"
#include "operator/plan/snapshot.h"
#include "operator/plan/volumes.h"

namespace atl::ctl {

/// What a job needs of a cluster.
struct Gang {
  std::string job;                         // namespace/name
  std::vector<std::vector<Rank>> servers;  // the ranks of each pod
  std::vector<std::string> holds;          // Layout::holds
  Resources server, launcher;              // of one pod
  Traffic traffic{0, {}};                  // between servers
  bool assumed = false;                    // the traffic: each server as much to each, for want of the parts
  NodeFilter filter;
  std::vector<GangVolume> volumes;
  std::vector<std::string> levels;  // node labels, coarsest first; the last is the node
  std::vector<double> weights;      // of a byte, by level
  int within = -1;                  // a level of which one domain must hold all

  /// Whether server 0 is that of rank 0, which alone mounts what is to be kept.
  bool has_first_server() const { return !servers.empty() && !servers[0].empty() && servers[0][0] == 0; }
};

/// `flows`: bytes an epoch between ranks, where they are known. `gpu`: the resource that GPUs are.
Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows,
             const std::string& gpu = kGpuResource);

/// Keys of the taints that keep other pods off nodes with GPUs of that name: it, and that of whole ones, for
/// nodes with MIG's slices are tainted so, too.
std::set<std::string> gpu_taints(const std::string& gpu);

/// The nodes that a job's template allows. Ranks on GPUs stand on nodes that are kept for such.
NodeFilter filter_of(const Job& job, const std::string& gpu);

/// Where a gang stands.
struct GangPlan {
  bool fits = false;
  std::vector<std::string> nodes;    // by server
  std::string launcher;              // its node
  double cost = 0;                   // Σ bytes × weight, an epoch
  double in_order_cost = 0;          // of pods in plain order
  double best_possible = 0;          // on the same nodes, were they empty
  std::vector<double> level_bytes;   // by level: bytes an epoch that cross it and no coarser one
  std::vector<std::string> reasons;  // why it isn't the best possible, or why there is none; whole sentences
};

/// Pure. Pods of the gang's own job take no room: it may be planned again while it runs.
GangPlan plan_gang(const Gang& gang, const Snapshot& snapshot);

/// For a terminal, and as one JSON object.
std::string to_text(const GangPlan& plan, const Gang& gang, const Snapshot& snapshot);
std::string to_json(const GangPlan& plan, const Gang& gang);

/// All that a plan turns on but the job's name, as a text to compare.
std::string demand_class(const Gang& gang);

}  // namespace atl::ctl
