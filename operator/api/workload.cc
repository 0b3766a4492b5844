#include "operator/api/workload.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/api/condition.h"
#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

Workload::PodSet read_assignment(const json& object) {
  Workload::PodSet set{text_of(object, "name"), {}};
  for (const auto& [resource, flavor] : member(object, "flavors").items())
    set.flavors.insert(text_of(flavor));
  return set;
}

/// An admission check's update, in the form of a pod template.
std::string update_template(const json& update) {
  json part;
  for (const char* map : {"labels", "annotations"})
    if (member(update, map).is_object()) part["metadata"][map] = update[map];
  for (const char* field : {"nodeSelector", "tolerations"})
    if (update.contains(field)) part["spec"][field] = update[field];
  return part.dump();
}

void read_checks(const json& status, Workload& workload) {
  for (const json& check : list_of(status, "admissionChecks")) {
    for (const json& update : list_of(check, "podSetUpdates"))
      for (Workload::PodSet& set : workload.assigned)
        if (set.name == text_of(update, "name")) set.updates.push_back(update_template(update));
    if (text_of(check, "state") == "Ready") continue;
    workload.checks += (workload.checks.empty() ? "" : "; ") + text_of(check, "name") + ": " +
                       text_of(check, "state") + " " + text_of(check, "message");
  }
}

/// Merges a partial template into another: maps by key; of lists, the items that aren't there yet.
void join(json& all, const json& part) {
  for (const auto& [key, value] : part.items()) {
    if (value.is_object()) {
      join(all[key], value);
    } else if (value.is_array()) {
      for (const json& item : value)
        if (std::ranges::count(all[key], item) == 0) all[key].push_back(item);
    } else {
      all[key] = value;
    }
  }
}

}  // namespace

Workload read_workload(const json& object) {
  const json &spec = member(object, "spec"), &status = member(object, "status");
  Workload workload;
  workload.queue = text_of(spec, "queueName");
  workload.has_status = status.is_object();
  for (const json& condition : list_of(status, "conditions"))
    workload.conditions.push_back(read_condition(condition));
  const json& admission = member(status, "admission");
  workload.has_admission = admission.is_object();
  for (const json& set : list_of(admission, "podSetAssignments"))
    workload.assigned.push_back(read_assignment(set));
  read_checks(status, workload);
  return workload;
}

bool is_admitted(const Workload& workload) {
  return holds(workload.conditions, kAdmitted) && !holds(workload.conditions, kEvicted) &&
         !holds(workload.conditions, kFinished) && workload.has_admission;
}

std::string flavor_template(const json& object) {
  const json& spec = member(object, "spec");
  json part = {{"spec", json::object()}};
  if (member(spec, "nodeLabels").is_object()) part["spec"]["nodeSelector"] = spec["nodeLabels"];
  if (member(spec, "tolerations").is_array()) part["spec"]["tolerations"] = spec["tolerations"];
  return part.dump();
}

Admitted admitted_pods(const Workload& workload,
                       const std::function<std::optional<std::string>(const std::string&)>& flavor) {
  Admitted admitted;
  for (const Workload::PodSet& set : workload.assigned) {
    json all;
    for (const std::string& name : set.flavors) {
      if (const auto part = flavor(name))
        join(all, json::parse(*part));
      else if (admitted.unknown.empty())
        admitted.unknown = name;
    }
    for (const std::string& update : set.updates) join(all, json::parse(update));
    (set.name == kLauncherPods ? admitted.launcher : admitted.workers) = all.is_null() ? "" : all.dump();
  }
  return admitted;
}

}  // namespace atl::ctl
