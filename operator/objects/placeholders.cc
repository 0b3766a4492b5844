// Objects that ask an autoscaler for nodes: placeholder pods, and CapacityBuffers with their PodTemplates.
// Both have the scheduling fields of the gang's own pods, so that they fit on the same nodes and on no
// others. A node takes as many of them as it would take servers of the gang, because only their requests
// spread them.
#include <utility>
#include <vector>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/parts.h"
#include "operator/plan/node_filter.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// The pod that will use the room, as it would be made.
json pod_of(const GnnJob& job, const Settings& settings, const std::string& role) {
  GnnJob alone = job;
  alone.status.keys = kNoKeysYet;  // the pod's nodes don't depend on the keys
  return parse_json(role == kLauncherRole ? launcher_pod(alone, settings, 1)
                                          : worker_pod(alone, settings, 0, {0}, 0));
}

json rule_of(const LabelRule& rule) {
  json made = {{"key", rule.key}, {"operator", rule.comparison}};
  if (!rule.values.empty()) made["values"] = rule.values;
  return made;
}

/// Demands that one of the terms holds, in addition to all that the pod demands already.
void demand_one_of(json& spec, const NodeTerms& alternatives) {
  json& terms =
      spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = json::array({json::object()});
  json all = json::array();
  for (const json& term : terms)
    for (const auto& rules : alternatives) {
      json both = term;
      for (const LabelRule& rule : rules)
        both[rule.of_name ? "matchFields" : "matchExpressions"].push_back(rule_of(rule));
      all.push_back(std::move(both));
    }
  terms = std::move(all);
}

/// Keeps placeholders in one domain. The first one finds a domain, and the others follow it.
void stay_together(json& spec, const GnnJob& job, const WantedRoom& room) {
  if (room.together.empty()) return;
  json term;
  term["labelSelector"]["matchLabels"] = {{kJobLabel, job.meta.name}, {kRoleLabel, kPlaceholderRole}};
  term["topologyKey"] = room.together;
  json& affinity = spec["affinity"]["podAffinity"];
  if (room.is_together_required) {
    affinity["requiredDuringSchedulingIgnoredDuringExecution"].push_back(std::move(term));
    return;
  }
  json preferred;
  preferred["weight"] = 100;
  preferred["podAffinityTerm"] = std::move(term);
  affinity["preferredDuringSchedulingIgnoredDuringExecution"].push_back(std::move(preferred));
}

/// Limits equal the requests, because extended resources and quotas demand both.
json resources_of(const Resources& requests) {
  json amounts = json::object();
  for (const auto& [resource, amount] : requests.amounts())
    if (resource != "pods" && amount > 0)
      amounts[resource] = std::to_string(amount) + (resource == "cpu" ? "m" : "");
  json both;
  both["requests"] = amounts;
  both["limits"] = std::move(amounts);
  return both;
}

json container_of(const Settings& settings, const WantedRoom& room) {
  json container = {{"name", kPlaceholderRole},
                    {"image", settings.placeholder_image},
                    {"securityContext",
                     {{"allowPrivilegeEscalation", false},
                      {"readOnlyRootFilesystem", true},
                      {"capabilities", {{"drop", {"ALL"}}}}}}};
  container["resources"] = resources_of(room.requests);
  return container;
}

json spec_of(const GnnJob& job, const Settings& settings, const WantedRoom& room) {
  json spec = {
      {"restartPolicy", "Always"},
      {"automountServiceAccountToken", false},
      {"enableServiceLinks", false},
      {"terminationGracePeriodSeconds", 0},  // nothing is lost with the pod, and its room is wanted at once
      {"securityContext", {{"runAsNonRoot", true}, {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
      {"containers", json::array({container_of(settings, room)})}};
  const json own = pod_of(job, settings, room.role).at("spec");
  for (const char* field : {"nodeSelector", "affinity", "tolerations", "schedulerName"})
    if (own.contains(field)) spec[field] = own.at(field);
  for (const std::string& secret : settings.pull_secrets)
    spec["imagePullSecrets"].push_back({{"name", secret}});
  demand_driver(spec, job, settings);
  for (const NodeTerms& terms : room.reach) demand_one_of(spec, terms);
  if (!room.excluded.empty()) {
    const LabelRule others{kHostnameLabel, "NotIn", {room.excluded.begin(), room.excluded.end()}, false};
    const std::vector<LabelRule> term{others};
    demand_one_of(spec, {term});
  }
  stay_together(spec, job, room);
  return spec;
}

json labels_of(const json& object) {
  json labels = object.at("metadata").at("labels");
  labels[kRoleLabel] = kPlaceholderRole;
  return labels;
}

/// An object that is deleted when the job's manifest changes.
json dated(const GnnJob& job, const char* api_version, const char* kind, const std::string& name) {
  json object = object_of(job, api_version, kind, name);
  object["metadata"]["labels"][kManifestLabel] = job.made_of.manifest;
  return object;
}

}  // namespace

std::string placeholder_pod(const GnnJob& job, const Settings& settings, const WantedRoom& room,
                            const std::string& name) {
  json pod = dated(job, "v1", "Pod", name);
  pod["metadata"]["labels"] = labels_of(pod);
  pod["spec"] = spec_of(job, settings, room);
  pod["spec"]["priorityClassName"] = settings.placeholder_class;
  return pod.dump();
}

std::string room_template(const GnnJob& job, const Settings& settings, const WantedRoom& room,
                          const std::string& name) {
  json object = dated(job, "v1", "PodTemplate", name);
  object["template"]["metadata"]["labels"] = labels_of(object);
  object["template"]["spec"] = spec_of(job, settings, room);
  return object.dump();
}

std::string capacity_buffer(const GnnJob& job, const std::string& name, std::size_t pods) {
  json buffer = dated(job, "autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", name);
  buffer["spec"]["provisioningStrategy"] = "buffer.x-k8s.io/active-capacity";
  buffer["spec"]["podTemplateRef"]["name"] = name;
  buffer["spec"]["replicas"] = pods;
  return buffer.dump();
}

}  // namespace atl::ctl
