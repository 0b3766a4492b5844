// The part of a pod that decisions about a job need.
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
      waiting_message;  // why it doesn't run yet: ImagePullBackOff; "" while it runs or has ended
  bool running = false, ended = false;
  std::optional<Moment> since;  // when it started to run, or ended, by its node's clock
  int exit_code = 0, signal = 0;
  std::string reason, message;  // of its end: OOMKilled, Error; and its termination message
  std::string image_id;  // of the started image: "registry/repository@sha256:…", or only "sha256:…"
};

struct PodView {
  Meta meta;
  std::string phase;            // Pending | Running | Succeeded | Failed | Unknown
  std::string reason, message;  // of the pod as a whole: Evicted
  std::string node, ip;         // "" before it is bound, and before it has an address
  std::string image;            // of its first container, the engine
  std::string affinity;         // spec.affinity as JSON, or ""
  std::string pinned;           // the node that the operator pinned it to, or ""
  /// For a pod at a gate: its node selector without our pin, and its tolerations, as a partial pod template;
  /// else "". Admission may have added to them: a namespace's node selector, a RuntimeClass, a webhook.
  std::string node_rules;
  bool ready = false;
  std::string unschedulable;              // why the scheduler finds no node for it
  std::optional<Moment> scheduler_spoke;  // when the scheduler first said so, or spoke of the gate
  std::optional<Moment> scheduled;        // when it found a node
  // DisruptionTarget's reason: PreemptionByScheduler, EvictionByEvictionAPI, …; or TerminatedByKueue
  std::string disruption;
  std::vector<std::string> gates;
  int priority = 0;
  bool gives_way = false;  // PodState's
  Resources requests;
  std::vector<ContainerView> containers;  // init containers first

  bool is_bound() const { return !node.empty(); }
  bool has_ended() const { return phase == "Succeeded" || phase == "Failed"; }
  bool is_terminating() const { return meta.deletion.has_value(); }
  /// Null where the pod has no container of that name.
  const ContainerView* container(const std::string& name) const;
};

/// `object`: the API's JSON. Throws Error where it isn't a pod.
PodView read_pod(const std::string& object);

/// "SIGKILL" for 9, "" for 0.
std::string signal_name(int signal);

}  // namespace atl::ctl
