#include "operator/objects/parts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "job/api_names.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"
#include "operator/plan/node_filter.h"
#include "operator/plan/resources.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

/// The tolerations of a job's pods. They tolerate nodes that don't answer, because such pods are replaced
/// after our own time, not after the cluster's 300 s. Pods of jobs with GPUs also tolerate GPU nodes: ranks
/// run there, the launcher is planned beside them, and perhaps only such a node has room for the prepare pod.
json tolerations(const Job& job, const Settings& settings) {
  json all = json::array();
  for (const char* what : {"not-ready", "unreachable"})
    all.push_back({{"key", std::string("node.kubernetes.io/") + what},
                   {"operator", "Exists"},
                   {"effect", "NoExecute"},
                   {"tolerationSeconds", settings.toleration_seconds}});
  if (job.resources.gpus > 0)
    for (const std::string& key : gpu_taints(settings.gpu_resource))
      all.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
  return all;
}

json engine_container(const GnnJob& job, const Settings& settings) {
  return {{"name", kEngine},
          {"image", engine_image(job, settings)},
          {"imagePullPolicy", settings.pull_policy},
          {"terminationMessagePolicy", "FallbackToLogsOnError"},
          {"securityContext",
           {{"allowPrivilegeEscalation", false},
            {"readOnlyRootFilesystem", true},
            {"capabilities", {{"drop", {"ALL"}}}}}},
          {"volumeMounts", json::array()}};
}

std::string milli(double cores) {
  return fmt::format("{}m", std::int64_t(cores * 1000 + 0.5));
}

}  // namespace

json object_of(const GnnJob& job, const char* api_version, const char* kind, const std::string& name) {
  const json owner = {{"apiVersion", std::string(kApiGroup) + "/" + kApiVersion},
                      {"kind", kApiKind},
                      {"name", job.meta.name},
                      {"uid", job.meta.uid},
                      {"controller", true}};
  return {{"apiVersion", api_version},
          {"kind", kind},
          {"metadata",
           {{"name", name},
            {"namespace", job.meta.space},
            {"labels", {{kJobLabel, job.meta.name}, {kManagedByLabel, kManager}}},
            {"ownerReferences", json::array({owner})}}}};
}

json base_pod(const GnnJob& job, const Settings& settings, const std::string& name, const char* role) {
  json pod = object_of(job, "v1", "Pod", name);
  pod["metadata"]["labels"][kRoleLabel] = role;
  pod["metadata"]["labels"][kManifestLabel] = job.made_of.manifest;
  pod["metadata"]["annotations"] = json::object();
  if (const std::string restart = last_restart(job.status); !restart.empty())
    pod["metadata"]["annotations"][kAfterRestartAnnotation] = restart;
  pod["spec"] = {{"restartPolicy", "Never"},
                 {"automountServiceAccountToken", false},
                 {"enableServiceLinks", false},
                 {"terminationGracePeriodSeconds", settings.grace_seconds},
                 {"securityContext",
                  {{"runAsNonRoot", true},
                   {"fsGroup", settings.fs_group},
                   {"fsGroupChangePolicy", "OnRootMismatch"},
                   {"seccompProfile", {{"type", "RuntimeDefault"}}}}},
                 {"tolerations", tolerations(*job.job, settings)},
                 {"volumes", json::array()},
                 {"containers", json::array({engine_container(job, settings)})}};
  for (const std::string& secret : settings.pull_secrets)
    pod["spec"]["imagePullSecrets"].push_back({{"name", secret}});
  const json scratch = {{"emptyDir", json::object()}};
  mount(pod, "tmp", scratch, "/tmp", false);
  mount(pod, "run", scratch, "/run/atoll", false);
  mount(pod, "users", scratch, "/var/lib/extrausers", false);
  const std::string map = job_map_name(job.meta.name, job.made_of.manifest);
  mount(pod, kManifestVolume, {{"configMap", {{"name", map}}}}, "/etc/atoll/job", true);
  return pod;
}

void demand_of_nodes(json& pod, const json& rule) {
  json& terms = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
                   ["nodeSelectorTerms"];
  if (!terms.is_array() || terms.empty()) terms = json::array({json::object()});
  for (json& term : terms) term["matchExpressions"].push_back(rule);  // terms are alternatives
}

void demand_platform(json& pod, const Settings& settings) {
  json& selector = pod["spec"]["nodeSelector"];
  if (!selector.is_object()) selector = json::object();
  if (!selector.contains(kSystemLabel)) selector[kSystemLabel] = kSystem;
  if (settings.architectures.empty() || selector.contains(kArchitectureLabel)) return;
  if (settings.architectures.size() == 1) {
    selector[kArchitectureLabel] = settings.architectures[0];
    return;
  }
  demand_of_nodes(pod, {{"key", kArchitectureLabel}, {"operator", "In"}, {"values", settings.architectures}});
}

json& engine_of(json& pod) {
  return pod["spec"]["containers"][0];
}

void mount(json& pod, const char* volume, json source, const char* path, bool read_only) {
  source["name"] = volume;
  pod["spec"]["volumes"].push_back(std::move(source));
  json at = {{"name", volume}, {"mountPath", path}};
  if (read_only) at["readOnly"] = true;
  engine_of(pod)["volumeMounts"].push_back(std::move(at));
}

void add_gate(json& pod) {
  pod["spec"]["schedulingGates"] = json::array({{{"name", kGate}}});
}

json keys_source(const GnnJob& job, std::initializer_list<const char*> items) {
  ATOLL_CHECK(!job.status.keys.empty(), "{} has no keys", job.full_name());
  json files = json::array();
  for (const char* item : items) files.push_back({{"key", item}, {"path", item}});
  constexpr int kOwnerAlone = 0400;
  return {{"secret",
           {{"secretName", job.status.keys}, {"defaultMode", kOwnerAlone}, {"items", std::move(files)}}}};
}

void mount_data(json& pod, const GnnJob& job, bool prepares) {
  const DatasetSpec& dataset = job.job->dataset;
  const bool has_own = !dataset.prepared.empty(), is_generated = dataset.name.empty();
  const bool writes_data = prepares && (is_generated || !has_own);
  mount(pod, "data", parse_json(dataset.volume), kDataRoot, !writes_data);
  if (has_own) mount(pod, "prepared", parse_json(dataset.prepared), kPrepared, !prepares);
}

void name_data(json& command, const Job& job) {
  command.push_back("--data-root");
  command.push_back(kDataRoot);
  if (job.dataset.prepared.empty()) return;
  command.push_back("--prepared");
  command.push_back(kPrepared);
}

json rank_resources(const Job& job, int ranks, std::int64_t shared_memory) {
  json limits = json::object(), requests;
  if (job.resources.cpu > 0) limits["cpu"] = milli(job.resources.cpu * ranks);
  if (job.resources.memory > 0) {
    Resources memory = Resources({{"memory", job.resources.memory}}) * ranks;
    memory += Resources({{"memory", shared_memory}});
    limits["memory"] = std::to_string(memory.of("memory"));
  }
  requests = limits;
  // Files in /dev/shm count as the pod's memory, whether it states them or not.
  if (!requests.contains("memory") && shared_memory > 0) requests["memory"] = std::to_string(shared_memory);
  return {{"requests", std::move(requests)}, {"limits", std::move(limits)}};
}

void add_gpus(json& pod, const Job& job, int ranks, const std::string& gpu) {
  if (job.resources.gpus == 0) return;
  for (const char* kind : {"requests", "limits"})
    engine_of(pod)["resources"][kind][gpu] = job.resources.gpus * ranks;
}

}  // namespace atl::ctl
