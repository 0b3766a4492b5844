// A job's place in a queue, which is Kueue's Workload (kueue.x-k8s.io). Kueue reserves quota for it, which
// its conditions and its admission show, and assigns it ResourceFlavors, which are kinds of nodes. What a
// flavor demands of pods is kept as a partial pod template, like the user's own. If a flavor names a
// Topology, Kueue also assigns the nodes themselves (topology-aware scheduling, its KEP-2724), whether the
// Workload asked for that or not.
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

/// The names of the pod sets in our Workloads.
inline constexpr const char *kWorkerPods = "worker", *kLauncherPods = "launcher";

/// What a set of pods asks of the topology of its nodes.
struct TopologyRequest {
  std::string kind{};   // required | preferred | unconstrained; "": no request
  std::string value{};  // the level (a node label) of which one domain is to hold all; or "true"

  bool is_any() const { return !kind.empty(); }
  /// The annotation with which pods make the same request. It also tells Kueue that the Workload counts them
  /// on their nodes.
  std::string annotation() const { return "kueue.x-k8s.io/podset-" + kind + "-topology"; }
  bool operator==(const TopologyRequest&) const = default;
};

/// The request for any nodes of a topology.
inline const TopologyRequest kUnconstrained{"unconstrained", "true"};

/// The nodes that Kueue assigned to a set of pods. If the Topology ends above nodes, they are domains of
/// another level, which aren't heeded: Kueue reserves a domain's capacity, but binds no pod to a node.
struct AssignedNodes {
  std::string level{};                 // the level of the domains; "": nodes
  std::map<std::string, int> slots{};  // pods by node, without nodes that are to be replaced
  std::vector<std::string> lost{};     // nodes that Kueue is to replace
  std::int64_t pods = 0;               // on all nodes, lost ones included
  std::string fault{};                 // why the nodes can't be used, for a message; "": they can
  TopologyRequest asked{};             // unconstrained if the job made no request
};

/// The nodes to which the pods are restricted; null if they may use any.
inline const AssignedNodes* only_nodes(const std::optional<AssignedNodes>& assigned) {
  return assigned && assigned->level.empty() ? &*assigned : nullptr;
}

struct Workload {
  /// What one set of pods was assigned.
  struct PodSet {
    std::string name;
    std::set<std::string> flavors;
    std::vector<std::string> updates{};  // by admission checks: partial pod templates, JSON
    std::optional<AssignedNodes> nodes{};
  };
  std::string queue;
  std::map<std::string, TopologyRequest> asks;  // by pod set
  bool has_status = false;
  std::vector<Condition> conditions;
  bool has_admission = false;  // quota is reserved
  std::vector<PodSet> assigned;
  std::string checks;  // messages of admission checks that aren't ready
};

/// Reads a Workload from the API's JSON.
Workload read_workload(const nlohmann::json& object);

/// Whether the Workload's job may have pods.
bool is_admitted(const Workload& workload);

/// What a ResourceFlavor demands of pods, as a partial pod template.
std::string flavor_template(const nlohmann::json& object);

/// Whether a ResourceFlavor names a Topology.
bool has_topology(const nlohmann::json& flavor);

/// The ClusterQueue behind a LocalQueue; "" if it names none.
std::string cluster_queue_of(const nlohmann::json& local_queue);

/// The ResourceFlavors of all of a ClusterQueue's resource groups.
std::set<std::string> flavors_of(const nlohmann::json& cluster_queue);

/// What an admission adds to a job's pods: partial pod templates, or "".
struct Admitted {
  std::string workers, launcher;
  std::string unknown;                                        // a flavor that doesn't exist, or ""
  std::optional<AssignedNodes> worker_nodes, launcher_nodes;  // see only_nodes()
};

/// What a Workload's admission adds to its pods. `flavor` returns a flavor's template by its name; nothing if
/// there is no such flavor.
Admitted admitted_pods(const Workload& workload,
                       const std::function<std::optional<std::string>(const std::string&)>& flavor);

/// A job's priority in its queue. It comes from a class; it is 0 if the job names none and there is no
/// default class.
struct QueuePriority {
  std::string group, kind, name;
  int value = 0;
};

}  // namespace atl::ctl
