#include "operator/plan/snapshot.h"

#include <cstdint>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "job/yaml.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr char kJobLabel[] = "atoll.dev/job";
constexpr char kPinnedAnnotation[] = "atoll.dev/pinned-to";
constexpr char kRoleLabel[] = "atoll.dev/role", kPlaceholderRole[] = "placeholder";
constexpr YamlLimits kClusterFile = {std::size_t(256) << 20, 50'000'000};

Resources resources_of(const json& quantities) {
  Resources all;
  for (const auto& [resource, quantity] : quantities.items()) all.add(resource, text_of(quantity));
  return all;
}

/// A container's requests. A limit without a request counts as a request, because the API server fills it in.
Resources container_requests(const json& container) {
  const json& resources = member(container, "resources");
  return resources_of(member(resources, "limits")).replaced_by(resources_of(member(resources, "requests")));
}

/// The amounts that a container or a pod has been given, according to its status.
Resources given(const json& status) {
  Resources amounts = resources_of(member(status, "allocatedResources"));
  return amounts.at_least(resources_of(member(member(status, "resources"), "requests")));
}

/// What a pod's status tells about a change of its size in place.
class Resize {
 public:
  explicit Resize(const json& status) : status_(status) {
    for (const json& condition : member(status, "conditions"))
      is_refused_ |= text_of(condition, "type") == "PodResizePending" &&
                     text_of(condition, "status") == "True" && text_of(condition, "reason") == "Infeasible";
  }

  /// The larger of what the pod asks for and has. If its node can never give what it asks for, what it has
  /// counts.
  Resources count(Resources asked, const Resources& has) const {
    return is_refused_ && !has.amounts().empty() ? has : asked.at_least(has);
  }
  Resources requests(const json& container, const char* statuses) const {
    for (const json& status : member(status_, statuses))
      if (member(status, "name") == member(container, "name"))
        return count(container_requests(container), given(status));
    return container_requests(container);
  }

 private:
  const json& status_;
  bool is_refused_ = false;
};

void take_storage(const std::string& kind, const json& object, Storage& storage) {
  const json& metadata = member(object, "metadata");
  const std::string name = text_of(metadata, "name");
  if (kind == "PersistentVolumeClaim")
    storage.claims[text_of(metadata, "namespace") + "/" + name] = claim_state(object);
  if (kind == "PersistentVolume") storage.volumes[name] = nodes_of_volume(object);
  if (kind == "StorageClass") storage.classes[name] = nodes_of_class(object);
}

void take(const json& object, Snapshot& snapshot) {
  const std::string kind = text_of(object, "kind");
  if (kind == "Node") snapshot.nodes.push_back(node_state(object));
  if (kind == "Pod") snapshot.pods.push_back(pod_state(object));
  take_storage(kind, object, snapshot.storage);
  if (kind.ends_with("List"))
    for (const json& item : member(object, "items")) take(item, snapshot);
}

json parse(const std::string& text, const std::string& name) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{') {
    json documents = json::array();
    for (const Node& document : parse_yaml(text, name, kClusterFile))
      documents.push_back(parse_json(to_json(document)));
    return {{"kind", "List"}, {"items", std::move(documents)}};
  }
  json parsed = json_or_discarded(text);
  if (parsed.is_discarded()) fail("{}: is neither JSON nor YAML; give kubectl's whole output", name);
  return parsed;
}

std::optional<std::int64_t> whole_number(const json& value) {
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

/// Whether the scheduler evicts the pod for any of ours, and so has its room at once. Anybody may use the
/// label with a low priority, so grace and finalizers are checked too: a pod that took its time to go would
/// hold up each gang that is planned in its room.
bool gives_way(const json& metadata, const json& spec) {
  return text_of(member(member(metadata, "labels"), kRoleLabel)) == kPlaceholderRole &&
         whole_number(member(spec, "priority")).value_or(0) < 0 &&
         whole_number(member(spec, "terminationGracePeriodSeconds")).value_or(1) == 0 &&
         member(metadata, "finalizers").empty();
}

}  // namespace

Resources requests_of(const json& spec, const json& status) {
  Resources running, sidecars, starting;
  const Resize resize(status);
  for (const json& container : member(spec, "containers"))
    running += resize.requests(container, "containerStatuses");
  for (const json& container : member(spec, "initContainers")) {
    const bool is_sidecar = text_of(container, "restartPolicy") == "Always";
    Resources then =
        is_sidecar ? resize.requests(container, "initContainerStatuses") : container_requests(container);
    if (is_sidecar) {
      running += then;
      sidecars += then;
      then = sidecars;
    } else {
      then += sidecars;
    }
    starting.at_least(then);
  }
  running.at_least(starting);
  const Resources of_pod = resources_of(member(member(spec, "resources"), "requests"));
  if (!of_pod.amounts().empty()) running.replaced_by(resize.count(of_pod, given(status)));
  running += resources_of(member(spec, "overhead"));
  running.add("pods", 1.0);
  return running;
}

Resources requests_of(const json& spec) {
  return requests_of(spec, json());
}

NodeState node_state(const json& node) {
  NodeState state;
  const json &metadata = member(node, "metadata"), &spec = member(node, "spec");
  state.name = text_of(metadata, "name");
  for (const auto& [key, value] : member(metadata, "labels").items()) state.labels[key] = text_of(value);
  for (const json& taint : member(spec, "taints"))
    state.taints.push_back({text_of(taint, "key"), text_of(taint, "value"), text_of(taint, "effect")});
  state.cordoned = member(spec, "unschedulable") == true;
  const json& status = member(node, "status");
  for (const json& condition : member(status, "conditions"))
    if (text_of(condition, "type") == "Ready") state.ready = text_of(condition, "status") == "True";
  state.allocatable = resources_of(member(status, "allocatable"));
  return state;
}

PodState pod_state(const json& pod) {
  PodState state;
  const json &metadata = member(pod, "metadata"), &spec = member(pod, "spec");
  const std::string space = text_of(metadata, "namespace");
  state.name = space + "/" + text_of(metadata, "name");
  state.node = text_of(spec, "nodeName");
  const std::string job = text_of(member(member(metadata, "labels"), kJobLabel));
  if (!job.empty()) {
    state.job = space + "/" + job;
    state.pinned = text_of(member(member(metadata, "annotations"), kPinnedAnnotation));
  }
  state.gives_way = !job.empty() && gives_way(metadata, spec);
  const std::string phase = text_of(member(member(pod, "status"), "phase"));
  state.finished = phase == "Succeeded" || phase == "Failed";
  for (const json& owner : member(metadata, "ownerReferences"))
    state.of_daemon_set |= text_of(owner, "kind") == "DaemonSet";
  state.requests = requests_of(spec, member(pod, "status"));
  return state;
}

Snapshot read_snapshot(const std::string& text, const std::string& name) {
  Snapshot snapshot;
  try {
    take(parse(text, name), snapshot);
  } catch (const json::exception& error) {
    fail("{}: is not kubectl's output: {}", name, error.what());
  }
  if (snapshot.nodes.empty())
    fail("{}: holds no nodes; create it with `kubectl get nodes,pods,pvc,pv,sc -A -o json`", name);
  return snapshot;
}

}  // namespace atl::ctl
