// The cluster as placement sees it: nodes with what they offer, pods with what they take. Read from the API's
// JSON, one object at a time, or from a file that kubectl wrote.
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

/// A pod that takes room, or will: it is bound to a node, or we have pinned it to one.
struct PodState {
  std::string name;    // namespace/name
  std::string node;    // where it is bound, or ""
  std::string pinned;  // the node that we pinned it to, whatever its template allows
  std::string job;     // namespace/name of its GNNJob, or ""
  bool finished = false;
  bool of_daemon_set = false;  // it stays as long as its node
  bool gives_way = false;      // a placeholder: it is gone as soon as somebody needs its room
  Resources requests;

  const std::string& where() const { return node.empty() ? pinned : node; }
};

/// What a node has left of what it offers.
struct NodeLeft {
  Resources free;     // beside all pods
  Resources cleared;  // beside pods outside of jobs: what is free once all jobs have ended
  Resources empty;    // beside daemon sets' pods alone
};

struct Snapshot {
  std::vector<NodeState> nodes;
  std::vector<NodeLeft> left;  // by node, beside pods that aren't in `pods`; empty: all that nodes offer
  std::vector<PodState> pods;
  Storage storage;
};

NodeState node_state(const nlohmann::json& node);
PodState pod_state(const nlohmann::json& pod);

/// The amounts that the scheduler counts for a pod: the larger of (all containers and sidecars) and (each
/// init container with the sidecars started before it), replaced by amounts stated for the whole pod; plus
/// the overhead and one pod.
Resources requests_of(const nlohmann::json& pod_spec);
/// The same of a pod that may be changing its size in place: of the amounts that it asks for and has, the
/// larger ones count.
Resources requests_of(const nlohmann::json& pod_spec, const nlohmann::json& pod_status);

/// Reads the output of `kubectl get nodes,pods,pvc,pv,sc -A -o json` or `-o yaml`. Skips other kinds; a
/// volume claim that is missing ties no pod to a node. Throws Error, which names the file and what is wrong.
Snapshot read_snapshot(const std::string& text, const std::string& name);

}  // namespace atl::ctl
