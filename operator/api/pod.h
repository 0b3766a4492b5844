// The parts of a pod that decisions about a job need.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/api/json_values.h"
#include "operator/plan/resources.h"

namespace atl::ctl {

/// The state of one container.
struct ContainerView {
  std::string name;
  std::string waiting,
      waiting_message;  // why it doesn't run yet: ImagePullBackOff; else ""
  bool running = false, ended = false;
  std::optional<Moment> since;  // when it began to run, or ended, by its node's clock
  int exit_code = 0, signal = 0;
  std::string reason, message;  // reason of its end: OOMKilled, Error; termination message
  std::string image_id;         // the running image: "registry/repository@sha256:…", or only "sha256:…"
};

struct PodView {
  Meta meta;
  std::string phase;            // Pending | Running | Succeeded | Failed | Unknown
  std::string reason, message;  // why the pod as a whole ended: Evicted
  std::string node, ip;         // node: "" until it is bound; ip: "" until it has one
  std::string image;            // image of its first container, the engine
  std::string affinity;         // spec.affinity as JSON, or ""
  std::string pinned;           // the node that the operator pinned it to, or ""
  /// For a gated pod, its node selector without our pin, and its tolerations, as a partial pod template;
  /// otherwise "". Admission may have added to them: a namespace's node selector, a RuntimeClass, a webhook.
  std::string node_rules;
  bool ready = false;
  std::string unschedulable;              // why the scheduler finds no node for it
  std::optional<Moment> scheduler_spoke;  // when the scheduler first said that, or named the gate
  std::optional<Moment> scheduled;        // when the scheduler found a node
  // the reason of DisruptionTarget: PreemptionByScheduler, EvictionByEvictionAPI, …; or TerminatedByKueue
  std::string disruption;
  std::vector<std::string> gates;
  int priority = 0;
  bool gives_way = false;  // a placeholder: see PodState::gives_way
  Resources requests;
  std::vector<ContainerView> containers;  // init containers first

  bool is_bound() const { return !node.empty(); }
  bool has_ended() const { return phase == "Succeeded" || phase == "Failed"; }
  bool is_terminating() const { return meta.deletion.has_value(); }
  /// The container of that name; null if the pod has none.
  const ContainerView* container(const std::string& name) const;
};

/// Reads a pod from the API's JSON. Throws Error if it isn't a pod.
PodView read_pod(const std::string& object);

/// "SIGKILL" for 9, "" for 0.
std::string signal_name(int signal);

}  // namespace atl::ctl
