// How many ranks of a job on GPUs share a pod if the manifest leaves that open. Ranks in one pod exchange by
// NVLink. Ranks in different pods exchange through the network, even on one node. So a pod gets as many of a
// node's GPUs as possible.
//
// The size is the largest divisor of the job's number of ranks with which the nodes could hold all pods,
// beside the pods of daemon sets alone. Only nodes that the pods may use count, and all that the pods request
// counts. Room that other pods take now is counted as free: it comes back, and a job keeps its pods' size as
// long as it lives.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace atl {
struct Job;
}

namespace atl::ctl {

struct Gang;
struct GangPlan;
struct Snapshot;

struct PodSize {
  int ranks = 0;         // in each pod; 0: not known yet
  std::string reason{};  // "8 ranks in 1 pod: node n1 has 8 nvidia.com/gpu", or why it isn't known
  bool operator==(const PodSize&) const = default;
};

/// Whether the size is to be chosen from the nodes. That is so for several ranks on whole GPUs, if the
/// manifest doesn't say placement.ranksPerServer and the strategy doesn't depend on servers. `gpu` is the
/// resource name of GPUs.
bool leaves_pod_size_open(const Job& job, const std::string& gpu);

/// The divisors of a number of ranks, the largest first.
std::vector<int> pod_sizes(int ranks);

/// The size of the largest pods that the nodes could hold; nothing if they could hold none. `ways` are gangs
/// of one job, whose ranks are divided among ever smaller pods.
std::optional<PodSize> largest_pods(const std::vector<Gang>& ways, const Snapshot& snapshot,
                                    const std::string& gpu);

/// A sentence that names a node with several of the gang's pods, whose GPUs can't use NVLink between them,
/// and says how to put them into one pod. "" if there is no such node. MIG's slices have no NVLink, so they
/// don't count.
std::string text_of_split_node(const Job& job, const Gang& gang, const GangPlan& plan,
                               const std::string& gpu);

}  // namespace atl::ctl
