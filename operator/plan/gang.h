// A job's pods as one gang: either all of them have a place, or none starts. This file says what a job needs,
// places it on nodes that have that, and puts into words what the placement costs, or what prevents it.
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
  Resources server, launcher;              // of one pod each
  Traffic traffic{0, {}};                  // between servers
  bool assumed = false;  // the parts aren't known, so `traffic` has the same bytes between all servers
  NodeFilter filter;
  std::vector<GangVolume> volumes;
  std::vector<std::string> levels;  // node labels, coarsest first; the last is the node's
  std::vector<double> weights;      // of a byte, by level
  int within = -1;                  // a level of which one domain must hold all servers; −1: none
  /// What a queue has assigned, the only room that there is: servers by node. Nothing: any nodes, any number.
  std::optional<std::map<std::string, int>> assigned{};
  /// The one node for the launcher, whether servers may use it or not; "": any of theirs.
  std::string launcher_on{};

  /// Whether server 0 has rank 0; only that server mounts volumes that keep results.
  bool has_first_server() const { return !servers.empty() && !servers[0].empty() && servers[0][0] == 0; }
  /// The most servers that a node may have, whatever its room.
  int most_on(const std::string& node) const;
};

/// What the launcher's pod asks for, and may have at most, in bytes.
struct LauncherMemory {
  std::int64_t requested, limit;
};

/// The launcher runs mpirun, and an ssh for each server as long as the job runs.
constexpr LauncherMemory launcher_memory(std::size_t servers) {
  constexpr std::int64_t kMi = 1 << 20;
  const auto count = std::int64_t(servers);
  return {std::max<std::int64_t>(128, 64 + 2 * count) * kMi,
          std::max<std::int64_t>(512, 256 + 4 * count) * kMi};
}

/// `flows`: bytes per epoch between ranks, if known. `gpu`: the resource name of GPUs.
Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows,
             const std::string& gpu = kGpuResource);

/// Keys of the taints that keep other pods off nodes with GPUs: `gpu`, and the name of whole GPUs, because
/// nodes with MIG's slices have that taint, too.
std::set<std::string> gpu_taints(const std::string& gpu);

/// The nodes that a job's template allows. Ranks on GPUs may use nodes that are kept for these.
NodeFilter filter_of(const Job& job, const std::string& gpu);

/// The nodes of a gang.
struct GangPlan {
  bool fits = false;
  std::vector<std::string> nodes;    // by server
  std::string launcher;              // the launcher's node
  double cost = 0;                   // Σ bytes × weight, per epoch
  double in_order_cost = 0;          // of pods in plain order
  double best_possible = 0;          // on the same nodes, if they were empty
  std::vector<double> level_bytes;   // by level: bytes per epoch that cross this level and no coarser one
  std::vector<std::string> reasons;  // in whole sentences: why it isn't the best possible, or doesn't fit
  /// If the gang fits: labels of levels that no node has, because one is misspelt, for example. All nodes are
  /// one domain there, and `within` such a level confines nothing.
  std::vector<std::string> unlabelled{};
  // If the gang doesn't fit:
  bool would_nodes_help = false;  // more nodes that its pods may use, in the right places, would make it fit
  bool would_fit_unreserved = false;  // and so might the present room, but for what is reserved for another
  std::vector<NodeTerms> reach{};     // where its servers' volumes can be used: of each, one term must hold
  /// Likewise of the volumes that server 0 alone mounts, if it is one of them.
  std::vector<NodeTerms> first_reach{};
  /// If one domain, larger than a node, must hold all servers: the domains with nodes that the gang may use,
  /// and last, unless a volume binds it, all other domains. Empty if no such node is known.
  NodeTerms domains{};
};

/// Pure. Pods of the gang's own job take no room, so that it can be planned again while it runs.
GangPlan plan_gang(const Gang& gang, const Snapshot& snapshot);

/// The plan for a terminal, and as one JSON object.
std::string to_text(const GangPlan& plan, const Gang& gang, const Snapshot& snapshot);
std::string to_json(const GangPlan& plan, const Gang& gang);

/// Everything that a plan depends on except the job's name, as a text to compare.
std::string demand_class(const Gang& gang);

}  // namespace atl::ctl
