// A job's Workload, with which it queues for quota (api/workload.h), and the conditions that Kueue is told
// later.
#include "operator/objects/objects.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/json.h"
#include "operator/api/condition.h"
#include "operator/objects/names.h"
#include "operator/objects/parts.h"
#include "operator/plan/node_filter.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr const char* kJobUidLabel = "kueue.x-k8s.io/job-uid";  // by which Kueue's tools find it

json request_json(const TopologyRequest& asks) {
  json request;
  if (asks == kUnconstrained)
    request[asks.kind] = true;
  else
    request[asks.kind] = asks.value;
  return request;
}

/// Two lists of rules, of which one must hold on a node: its labels name no driver, or one that is new
/// enough. As in NodeFilter::oldest_driver, the present name of the label comes before the former one.
std::vector<std::vector<json>> driver_rules(int oldest) {
  const auto rule = [&](const char* label, bool is_told) -> json {
    json made = {{"key", label}, {"operator", is_told ? "Gt" : "DoesNotExist"}};
    if (is_told) made["values"] = json::array({std::to_string(oldest - 1)});
    return made;
  };
  const auto& [present, former] = kDriverLabels;
  return {{rule(present, false), rule(former, false)},
          {rule(present, true)},
          {rule(present, false), rule(former, true)}};
}

}  // namespace

void demand_driver(json& spec, const GnnJob& job, const Settings& settings) {
  const bool has_our_engine = job.job->image.empty();
  if (job.job->resources.gpus == 0 || !has_our_engine || settings.oldest_driver == 0) return;
  json& terms =
      spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = json::array({json::object()});
  json all = json::array();
  for (const json& term : terms)
    for (const auto& rules : driver_rules(settings.oldest_driver)) {
      all.push_back(term);
      for (const json& rule : rules) all.back()["matchExpressions"].push_back(rule);
    }
  terms = std::move(all);
}

namespace {

/// A set of pods without any flavor's additions, because the pods don't request those.
json pod_set(const char* name, std::size_t count, const std::string& text, const TopologyRequest& asks) {
  json pod = parse_json(text);
  pod["spec"].erase("schedulingGates");
  const json& metadata = pod["metadata"];
  json set = {{"name", name},
              {"count", count},
              {"template",
               {{"metadata", {{"labels", metadata["labels"]}, {"annotations", metadata["annotations"]}}},
                {"spec", pod["spec"]}}}};
  if (asks.is_any()) set["topologyRequest"] = request_json(asks);
  return set;
}

json patch_step(const char* op, const std::string& path, const json& value) {
  return {{"op", op}, {"path", path}, {"value", value}};
}

}  // namespace

TopologyRequest topology_request(const Job& job) {
  const PlacementSpec& placement = job.placement;
  if (placement.within.empty()) return {};
  return {placement.policy == PlacementPolicy::kPreferred ? "preferred" : "required", placement.within};
}

std::string workload(const GnnJob& job, const Settings& settings,
                     const std::vector<std::vector<Rank>>& servers, const QueuePriority& priority,
                     const TopologyRequest& asks) {
  GnnJob alone = job;
  alone.admitted = {};
  alone.status.keys = kNoKeysYet;  // a waiting job has no keys, and its requests don't depend on them
  const auto largest = std::ranges::max_element(servers, {}, &std::vector<Rank>::size);
  json object = object_of(job, "kueue.x-k8s.io/v1beta2", "Workload", workload_name(job.meta.name));
  object["metadata"]["labels"][kJobUidLabel] = job.meta.uid;
  object["metadata"]["labels"][kManifestLabel] = job.made_of.manifest;
  const std::string worker = worker_pod(alone, settings, 0, *largest, 0),
                    launcher = launcher_pod(alone, settings, 1);
  const TopologyRequest anywhere = asks.is_any() ? kUnconstrained : TopologyRequest{};
  json sets = json::array(
      {pod_set(kWorkerPods, servers.size(), worker, asks), pod_set(kLauncherPods, 1, launcher, anywhere)});
  demand_driver(sets[0]["template"]["spec"], job, settings);
  object["spec"] = {
      {"queueName", job.meta.label(kQueueLabel)}, {"priority", priority.value}, {"podSets", std::move(sets)}};
  if (!priority.name.empty())
    object["spec"]["priorityClassRef"] = {
        {"group", priority.group}, {"kind", priority.kind}, {"name", priority.name}};
  return object.dump();
}

std::string conditions_patch(const Meta& meta, const Workload& workload,
                             const std::vector<Condition>& conditions, bool releases) {
  json patch = json::array({patch_step("add", "/metadata/resourceVersion", meta.version)});
  if (!workload.has_status) patch.push_back(patch_step("add", "/status", json::object()));
  if (workload.conditions.empty()) patch.push_back(patch_step("add", "/status/conditions", json::array()));
  for (Condition condition : conditions) {
    const auto known = std::ranges::find(workload.conditions, condition.type, &Condition::type);
    const bool is_new = known == workload.conditions.end();
    if (!is_new && known->holds == condition.holds) condition.changed = known->changed;
    condition.generation = meta.generation;
    const std::string place = is_new ? "-" : std::to_string(known - workload.conditions.begin());
    patch.push_back(
        patch_step(is_new ? "add" : "replace", "/status/conditions/" + place, condition_json(condition)));
  }
  if (releases && workload.has_admission) patch.push_back({{"op", "remove"}, {"path", "/status/admission"}});
  return patch.dump();
}

}  // namespace atl::ctl
