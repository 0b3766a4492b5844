// A job's place in a queue: Kueue's Workload (kueue.x-k8s.io). Kueue reserves quota for it, which shows in
// its conditions and its admission, and assigns kinds of nodes, ResourceFlavors. What a flavor asks of pods
// is kept as a partial pod template, like the user's own. Where a flavor names a Topology, Kueue assigns the
// nodes themselves as well (topology-aware scheduling, its KEP-2724), whether the Workload asked for that or
// not.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/condition.h"

namespace atl::ctl {

inline constexpr const char *kQuotaReserved = "QuotaReserved", *kAdmitted = "Admitted", *kEvicted = "Evicted",
                            *kRequeued = "Requeued", *kPodsReady = "PodsReady", *kFinished = "Finished";

/// Labels of jobs.
inline constexpr const char *kQueueLabel = "kueue.x-k8s.io/queue-name",
                            *kQueuePriorityLabel = "kueue.x-k8s.io/priority-class";

/// The sets of pods in our Workloads.
inline constexpr const char *kWorkerPods = "worker", *kLauncherPods = "launcher";

/// What a set of pods asks of its nodes' topology.
struct TopologyRequest {
  std::string kind{};   // required | preferred | unconstrained; "": it asks nothing
  std::string value{};  // the level, a label of nodes, of which one domain is to hold all; or "true"

  bool is_any() const { return !kind.empty(); }
  /// By which pods say so too, and that Kueue counts them on their nodes by the Workload.
  std::string annotation() const { return "kueue.x-k8s.io/podset-" + kind + "-topology"; }
  bool operator==(const TopologyRequest&) const = default;
};

/// Asks for any nodes of a topology.
inline const TopologyRequest kUnconstrained{"unconstrained", "true"};

/// The nodes that Kueue assigned to a set of pods; or domains of another level, where the Topology ends above
/// nodes. These aren't heeded: of such a domain Kueue reserves the capacity, and binds no pod to a node.
struct AssignedNodes {
  std::string level{};                 // of which the domains are; "": nodes
  std::map<std::string, int> slots{};  // pods by node; without nodes that are to be replaced
  std::vector<std::string> lost{};     // nodes that Kueue is to replace by others
  std::int64_t pods = 0;               // of all of them
  std::string fault{};                 // why they can't be used, for a message; "": they can
  TopologyRequest asked{};             // unconstrained where nothing was asked
};

/// The nodes to which pods have to keep; null where they may use any.
inline const AssignedNodes* only_nodes(const std::optional<AssignedNodes>& assigned) {
  return assigned && assigned->level.empty() ? &*assigned : nullptr;
}

struct Workload {
  /// The assignment of one set of pods.
  struct PodSet {
    std::string name;
    std::set<std::string> flavors;
    std::vector<std::string> updates{};  // from admission checks: partial pod templates, JSON
    std::optional<AssignedNodes> nodes{};
  };
  std::string queue;
  std::map<std::string, TopologyRequest> asks;  // by set of pods
  bool has_status = false;
  std::vector<Condition> conditions;
  bool has_admission = false;  // quota is reserved
  std::vector<PodSet> assigned;
  std::string checks;  // messages of admission checks that aren't ready
};

/// `object`: the API's JSON.
Workload read_workload(const nlohmann::json& object);

/// Whether its job may have pods.
bool is_admitted(const Workload& workload);

/// What a ResourceFlavor asks of pods, as a partial pod template.
std::string flavor_template(const nlohmann::json& object);

/// Whether a ResourceFlavor names a Topology.
bool has_topology(const nlohmann::json& flavor);

/// The ClusterQueue to which a LocalQueue leads; "" where it names none.
std::string cluster_queue_of(const nlohmann::json& local_queue);

/// The ResourceFlavors of all of a ClusterQueue's resource groups.
std::set<std::string> flavors_of(const nlohmann::json& cluster_queue);

/// What an admission asks of a job's pods: partial pod templates, or "".
struct Admitted {
  std::string workers, launcher;
  std::string unknown;                                        // a flavor that isn't known
  std::optional<AssignedNodes> worker_nodes, launcher_nodes;  // see only_nodes()
};

/// `flavor`: returns a flavor's template by its name; nothing where there is no such flavor.
Admitted admitted_pods(const Workload& workload,
                       const std::function<std::optional<std::string>(const std::string&)>& flavor);

/// A job's priority in its queue: from a class, or 0 where the job names none and there is no default.
struct QueuePriority {
  std::string group, kind, name;
  int value = 0;
};

}  // namespace atl::ctl
