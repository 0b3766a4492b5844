// How many ranks of a job on GPUs share a pod, where the manifest leaves that open. Ranks of one pod exchange
// by NVLink; those of several go through the network, also on one node. So a pod has as many of a node's GPUs
// as it can.
//
// The size is the largest divisor of the job's ranks with which the nodes could hold all pods if they were
// empty but for daemon sets' pods. Only nodes that the pods may use count, by everything that the pods ask
// for. Room that others take now doesn't count: it comes back, and a job keeps its pods' size as long as it
// lives.
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

/// Whether it is to be taken from the nodes: several ranks on whole GPUs, a manifest that doesn't say
/// placement.ranksPerServer, and a strategy to which servers mean nothing. `gpu`: the resource name of GPUs.
bool leaves_pod_size_open(const Job& job, const std::string& gpu);

/// The divisors of that number of ranks, the largest first.
std::vector<int> pod_sizes(int ranks);

/// `ways`: gangs of one job whose ranks are divided among ever smaller pods. The size of the first that the
/// nodes could hold; nothing where they could hold none.
std::optional<PodSize> largest_pods(const std::vector<Gang>& ways, const Snapshot& snapshot,
                                    const std::string& gpu);

/// Names a node that has several of the gang's pods, whose GPUs can't use NVLink between them, and says what
/// puts them into one; "" where there is none. MIG's slices have no NVLink.
std::string text_of_split_node(const Job& job, const Gang& gang, const GangPlan& plan,
                               const std::string& gpu);

}  // namespace atl::ctl
