// A job's pods as one gang: either all of them have places, or none starts. This file says what a job needs,
// places it on suitable nodes, and explains what the placement costs or what prevents it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
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

/// A job's demand on a cluster.
struct Gang {
  std::string job;                         // namespace/name
  std::vector<std::vector<Rank>> servers;  // the ranks of each pod
  std::vector<std::string> holds;          // Layout::holds
  Resources server, launcher;              // the demand of one pod each
  Traffic traffic{0, {}};                  // between servers
  bool assumed = false;  // the parts aren't known, so `traffic` has the same bytes between all servers
  NodeFilter filter;
  std::vector<GangVolume> volumes;
  std::vector<std::string> levels;  // node labels, coarsest first; the last is the node's
  std::vector<double> weights;      // cost of a byte, by level
  int within = -1;                  // level of which one domain must hold all servers; −1: none
  /// The servers that a queue has assigned to each node; no other room may be used. Nothing: any nodes, any
  /// number.
  std::optional<std::map<std::string, int>> assigned{};
  /// The only node that the launcher may use, whether servers may use it or not; "": any node that servers
  /// may use.
  std::string launcher_on{};

  /// Whether server 0 has rank 0. Only that server mounts the volumes that keep results.
  bool has_first_server() const { return !servers.empty() && !servers[0].empty() && servers[0][0] == 0; }
  /// The most servers that a node may take, whatever its room.
  int most_on(const std::string& node) const;
};

/// What the launcher's pod requests, and its limit, in bytes.
struct LauncherMemory {
  std::int64_t requested, limit;
};

/// The launcher runs mpirun, and one ssh for each server as long as the job runs.
constexpr LauncherMemory launcher_memory(std::size_t servers) {
  constexpr std::int64_t kMi = 1 << 20;
  const auto count = std::int64_t(servers);
  return {std::max<std::int64_t>(128, 64 + 2 * count) * kMi,
          std::max<std::int64_t>(512, 256 + 4 * count) * kMi};
}

/// `flows`: bytes per epoch between ranks, if known. `gpu`: the resource name of GPUs.
Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows,
             const std::string& gpu = kGpuResource);

/// Keys of the taints that keep other pods off nodes with GPUs. These are `gpu` and the name of whole GPUs,
/// because nodes with MIG's slices have that taint too.
std::set<std::string> gpu_taints(const std::string& gpu);

/// The nodes that a job's template allows. Ranks on GPUs also tolerate the taints of GPU nodes.
NodeFilter filter_of(const Job& job, const std::string& gpu);

/// The result of planning a gang.
struct GangPlan {
  bool fits = false;
  std::vector<std::string> nodes;    // by server
  std::string launcher;              // the launcher's node
  double cost = 0;                   // Σ bytes × weight, per epoch
  double in_order_cost = 0;          // Σ if the pods were placed in plain order
  double best_possible = 0;          // the least cost on the same nodes, if they were empty
  std::vector<double> level_bytes;   // bytes per epoch whose coarsest crossed level is this one
  std::vector<std::string> reasons;  // sentences: why it isn't the best possible, or doesn't fit
  /// If the gang fits: labels of levels that no node has, perhaps because they are misspelt. At such a level
  /// all nodes are one domain, and `within` has no effect.
  std::vector<std::string> unlabelled{};
  // If the gang doesn't fit:
  bool would_nodes_help = false;      // more nodes of the right kind would make it fit
  bool would_fit_unreserved = false;  // the gang might fit if no room were kept
  std::vector<NodeTerms> reach{};     // where its servers' volumes can be used: one term of each must hold
  /// The same for the volumes that server 0 alone mounts.
  std::vector<NodeTerms> first_reach{};
  /// Is filled if one domain, larger than a node, must hold all servers. It has the domains with nodes that
  /// the gang may use. Last, unless a volume binds the gang, comes a term for all other domains. Empty if no
  /// such node is known.
  NodeTerms domains{};
};

/// Plans a gang. Pure. Pods of the gang's own job take no room, so that it can be planned again while it
/// runs.
GangPlan plan_gang(const Gang& gang, const Snapshot& snapshot);

/// The plan for a terminal, and as one JSON object.
std::string to_text(const GangPlan& plan, const Gang& gang, const Snapshot& snapshot);
std::string to_json(const GangPlan& plan, const Gang& gang);

/// Everything that a plan depends on, except the job's name, as a text to compare. Gangs with the same text
/// are of one class.
std::string demand_class(const Gang& gang);

}  // namespace atl::ctl
