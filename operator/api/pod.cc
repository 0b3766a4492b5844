#include "operator/api/pod.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/json.h"
#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"
#include "operator/plan/node_filter.h"
#include "operator/plan/snapshot.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// Kueue's condition on a pod that it ends. The pod waits for a node on which it can't run, or Kueue has
/// withdrawn its place.
constexpr const char* kTerminatedByKueue = "TerminatedByKueue";

ContainerView read_container(const json& status) {
  ContainerView view;
  view.name = text_of(status, "name");
  const json& state = member(status, "state");
  const json &waiting = member(state, "waiting"), &terminated = member(state, "terminated");
  view.waiting = text_of(waiting, "reason");
  view.waiting_message = text_of(waiting, "message");
  view.running = member(state, "running").is_object();
  view.ended = terminated.is_object();
  view.since =
      view.ended ? moment_of(terminated, "finishedAt") : moment_of(member(state, "running"), "startedAt");
  view.exit_code = int(integer_of(terminated, "exitCode").value_or(0));
  view.signal = int(integer_of(terminated, "signal").value_or(0));
  view.reason = text_of(terminated, "reason");
  view.message = text_of(terminated, "message");
  view.image_id = text_of(status, "imageID");
  return view;
}

void read_conditions(const json& status, PodView& pod) {
  for (const json& condition : list_of(status, "conditions")) {
    const std::string type = text_of(condition, "type");
    const bool holds = text_of(condition, "status") == "True";
    if (type == "Ready") pod.ready = holds;
    if (type == "DisruptionTarget" && holds) pod.disruption = text_of(condition, "reason");
    if (type == kTerminatedByKueue && holds) {
      pod.disruption = type;
      if (pod.message.empty()) pod.message = text_of(condition, "message");
    }
    if (type == "PodScheduled" && holds) pod.scheduled = moment_of(condition, "lastTransitionTime");
    const std::string reason = text_of(condition, "reason");
    if (type != "PodScheduled" || holds || (reason != "Unschedulable" && reason != "SchedulerError"))
      continue;
    pod.unschedulable = text_of(condition, "message");
    if (pod.unschedulable.empty()) pod.unschedulable = reason;
    pod.scheduler_spoke = moment_of(condition, "lastTransitionTime");
  }
}

void read_spec(const json& spec, const json& status, PodView& pod) {
  pod.node = text_of(spec, "nodeName");
  if (const json& containers = list_of(spec, "containers"); !containers.empty())
    pod.image = text_of(containers[0], "image");
  const json& affinity = member(spec, "affinity");
  if (affinity.is_object()) pod.affinity = affinity.dump();
  for (const json& gate : list_of(spec, "schedulingGates")) pod.gates.push_back(text_of(gate, "name"));
  pod.priority = int(integer_of(spec, "priority").value_or(0));
  pod.requests = requests_of(spec, status);
}

std::string node_rules_of(const json& spec, bool is_pinned) {
  json rules;
  for (const char* field : {"nodeSelector", "tolerations"})
    if (const json& given = member(spec, field); !given.empty()) rules["spec"][field] = given;
  if (is_pinned && member(spec, "nodeSelector").is_object())
    rules["spec"]["nodeSelector"].erase(kHostnameLabel);
  return rules.is_null() ? "" : rules.dump();
}

}  // namespace

const ContainerView* PodView::container(const std::string& name) const {
  const auto found = std::ranges::find(containers, name, &ContainerView::name);
  return found == containers.end() ? nullptr : &*found;
}

PodView read_pod(const std::string& text) {
  const json object = json_or_discarded(text);
  if (!object.is_object()) fail("a pod that is no JSON object: '{}'", text.substr(0, 80));
  PodView pod;
  pod.meta = read_meta(object);
  const json& status = member(object, "status");
  pod.phase = text_of(status, "phase");
  pod.reason = text_of(status, "reason");
  pod.message = text_of(status, "message");
  pod.ip = text_of(status, "podIP");
  read_conditions(status, pod);
  read_spec(member(object, "spec"), status, pod);
  const PodState state = pod_state(object);
  pod.pinned = state.pinned;
  pod.gives_way = state.gives_way;
  if (!pod.gates.empty()) pod.node_rules = node_rules_of(member(object, "spec"), !pod.pinned.empty());
  for (const char* list : {"initContainerStatuses", "containerStatuses"})
    for (const json& container : list_of(status, list)) pod.containers.push_back(read_container(container));
  return pod;
}

std::string signal_name(int signal) {
  if (signal <= 0) return {};
  const char* name = sigabbrev_np(signal);
  return name ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace atl::ctl
