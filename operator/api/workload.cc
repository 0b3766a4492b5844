#include "operator/api/workload.h"

#include <algorithm>

#include "base/json.h"
#include "operator/api/condition.h"
#include "operator/api/json_values.h"
#include "operator/plan/json_members.h"
#include "operator/plan/node_filter.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

TopologyRequest read_request(const json& request) {
  for (const char* kind : {"required", "preferred"})
    if (const std::string level = text_of(request, kind); !level.empty()) return {kind, level};
  return member(request, "unconstrained") == true ? kUnconstrained : TopologyRequest{};
}

// An assignment of nodes consists of slices. A slice says how many domains of the topology it has. For each
// level, it has either one value that all its domains share, or a list with one value for each domain. The
// numbers of pods have the same form.

constexpr std::int64_t kMostPods = 1'000'000;  // no job has more

/// The value of a slice's domain at a level; nothing if the slice has no such domain.
std::optional<std::string> value_at(const json& values, std::size_t domain) {
  if (const json& universal = member(values, "universal"); universal.is_string()) return text_of(universal);
  const json& individual = member(values, "individual");
  const json& roots = list_of(individual, "roots");
  if (domain >= roots.size() || !roots[domain].is_string()) return {};
  return text_of(individual, "prefix") + text_of(roots[domain]) + text_of(individual, "suffix");
}

/// The number of pods in a slice's domain; nothing if the slice has no such domain.
std::optional<std::int64_t> count_at(const json& counts, std::size_t domain) {
  if (const auto universal = integer_of(counts, "universal")) return universal;
  const json& individual = list_of(counts, "individual");
  if (domain >= individual.size() || !individual[domain].is_number_integer()) return {};
  return individual[domain].get<std::int64_t>();
}

/// Adds a slice's nodes. `levels` is the number of levels of the assignment. The last level is the node's
/// name, for which Kueue uses the label kubernetes.io/hostname, as we do. Returns false if the slice makes no
/// sense.
bool add_slice(const json& slice, std::size_t levels, AssignedNodes& nodes) {
  const json& values = list_of(slice, "valuesPerLevel");
  const std::int64_t domains = integer_of(slice, "domainCount").value_or(0);
  if (values.size() != levels || domains < 1) return false;
  for (std::int64_t domain = 0; domain < domains; ++domain) {
    const auto node = value_at(values.back(), std::size_t(domain));
    const auto pods = count_at(member(slice, "podCounts"), std::size_t(domain));
    if (!node || node->empty() || !pods || *pods < 1 || *pods > kMostPods) return false;
    nodes.pods += *pods;
    if (nodes.pods > kMostPods) return false;
    nodes.slots[*node] += int(*pods);
  }
  return true;
}

AssignedNodes read_nodes(const json& assignment) {
  AssignedNodes nodes;
  const std::vector<std::string> levels = texts_of(list_of(assignment, "levels"));
  if (!levels.empty() && levels.back() != kHostnameLabel) {
    nodes.level = levels.back();
    return nodes;
  }
  if (levels.empty()) nodes.fault = "its queue's topologyAssignment has no levels";
  for (const json& slice : list_of(assignment, "slices"))
    if (nodes.fault.empty() && !add_slice(slice, levels.size(), nodes))
      nodes.fault =
          "its queue's topologyAssignment can't be read: each slice needs a value per level and a number of pods for "
          "every domain";
  return nodes;
}

Workload::PodSet read_assignment(const json& object) {
  Workload::PodSet set{text_of(object, "name"), {}};
  for (const auto& [resource, flavor] : member(object, "flavors").items())
    set.flavors.insert(text_of(flavor));
  const json& assignment = member(object, "topologyAssignment");
  if (assignment.is_object()) set.nodes = read_nodes(assignment);
  return set;
}

/// Removes nodes that Kueue has given up. They are no room, even if Kueue has no other nodes for the pods
/// yet.
void leave_out_lost(const json& status, Workload& workload) {
  for (const json& lost : list_of(status, "unhealthyNodes"))
    for (Workload::PodSet& set : workload.assigned)
      if (const std::string node = text_of(lost, "name"); set.nodes && set.nodes->slots.erase(node) > 0)
        set.nodes->lost.push_back(node);
}

/// An admission check's update as a partial pod template.
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

/// Merges a partial template into another. Maps are merged by key. Lists get the items that they lack.
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
  for (const json& set : list_of(spec, "podSets"))
    workload.asks[text_of(set, "name")] = read_request(member(set, "topologyRequest"));
  workload.has_status = status.is_object();
  for (const json& condition : list_of(status, "conditions"))
    workload.conditions.push_back(read_condition(condition));
  const json& admission = member(status, "admission");
  workload.has_admission = admission.is_object();
  for (const json& set : list_of(admission, "podSetAssignments"))
    workload.assigned.push_back(read_assignment(set));
  leave_out_lost(status, workload);
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

bool has_topology(const json& flavor) {
  return !text_of(member(flavor, "spec"), "topologyName").empty();
}

std::string cluster_queue_of(const json& local_queue) {
  return text_of(member(local_queue, "spec"), "clusterQueue");
}

std::set<std::string> flavors_of(const json& cluster_queue) {
  std::set<std::string> flavors;
  for (const json& group : list_of(member(cluster_queue, "spec"), "resourceGroups"))
    for (const json& flavor : list_of(group, "flavors")) flavors.insert(text_of(flavor, "name"));
  return flavors;
}

Admitted admitted_pods(const Workload& workload,
                       const std::function<std::optional<std::string>(const std::string&)>& flavor) {
  Admitted admitted;
  for (const Workload::PodSet& set : workload.assigned) {
    json all;
    for (const std::string& name : set.flavors) {
      if (const auto part = flavor(name))
        join(all, parse_json(*part));
      else if (admitted.unknown.empty())
        admitted.unknown = name;
    }
    for (const std::string& update : set.updates) join(all, parse_json(update));
    const bool is_launcher = set.name == kLauncherPods;
    (is_launcher ? admitted.launcher : admitted.workers) = all.is_null() ? "" : all.dump();
    if (!set.nodes) continue;
    auto& nodes = is_launcher ? admitted.launcher_nodes : admitted.worker_nodes;
    nodes = set.nodes;
    const auto asked = workload.asks.find(set.name);
    const bool has_asked = asked != workload.asks.end() && asked->second.is_any();
    nodes->asked = has_asked ? asked->second : kUnconstrained;
  }
  return admitted;
}

}  // namespace atl::ctl
