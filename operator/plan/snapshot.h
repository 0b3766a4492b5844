// The cluster as the placement sees it: nodes with what they offer, and pods with what they take. It is read
// from the API's JSON, one object at a time, or from a file that kubectl wrote.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/plan/resources.h"
#include "operator/plan/volumes.h"

namespace atl::ctl {

struct Taint {
  std::string key, value, effect;  // NoSchedule | PreferNoSchedule | NoExecute
  bool operator==(const Taint&) const = default;
};

struct NodeState {
  std::string name;
  std::map<std::string, std::string> labels;
  std::vector<Taint> taints;
  bool cordoned = false, ready = false;
  Resources allocatable;
  bool operator==(const NodeState&) const = default;
};

/// A pod that takes room, or will take it: it is bound to a node, or we have pinned it to one.
struct PodState {
  std::string name;    // namespace/name
  std::string node;    // the node that it is bound to, or ""
  std::string pinned;  // the node that we pinned it to, whatever its template allows
  std::string job;     // namespace/name of its GNNJob, or ""
  bool finished = false;
  bool of_daemon_set = false;  // the pod stays as long as its node
  bool gives_way = false;      // a placeholder: it goes as soon as its room is needed
  Resources requests;

  const std::string& where() const { return node.empty() ? pinned : node; }
};

/// What a node has left of what it offers.
struct NodeLeft {
  Resources free;     // what all pods leave
  Resources cleared;  // what pods of no job leave: free once all jobs have ended
  Resources empty;    // what daemon sets' pods leave
};

struct Snapshot {
  std::vector<NodeState> nodes;
  std::vector<NodeLeft> left;  // by node, beside pods not in `pods`; empty: all that nodes offer
  std::vector<PodState> pods;
  Storage storage;
};

NodeState node_state(const nlohmann::json& node);
PodState pod_state(const nlohmann::json& pod);

/// The amounts that the scheduler counts for a pod. It takes the larger of two: the sum of all containers and
/// sidecars, and the largest init container with the sidecars started before it. Amounts stated for the whole
/// pod replace that. Then it adds the overhead and one pod.
Resources requests_of(const nlohmann::json& pod_spec);
/// The same for a pod whose size may be changing in place. The larger of what it asks for and what it has
/// counts.
Resources requests_of(const nlohmann::json& pod_spec, const nlohmann::json& pod_status);

/// Reads the output of `kubectl get nodes,pods,pvc,pv,sc -A -o json` or `-o yaml`. Other kinds are skipped. A
/// volume claim that is missing binds no pod to a node. Throws Error, which names the file and what is wrong.
Snapshot read_snapshot(const std::string& text, const std::string& name);

}  // namespace atl::ctl
