// A job's objects that aren't pods.
#include "operator/objects/objects.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/json.h"
#include "job/strategies.h"
#include "operator/api/json_values.h"
#include "operator/api/pod.h"
#include "operator/objects/names.h"
#include "operator/objects/parts.h"
#include "operator/objects/template.h"
#include "operator/plan/gang.h"
#include "operator/plan/node_filter.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

std::string config_map(const GnnJob& job, const std::string& name, const char* file, std::string content) {
  json map = object_of(job, "v1", "ConfigMap", name);
  map["immutable"] = true;
  map["data"] = {{file, std::move(content)}};
  return map.dump();
}

json tcp(int port) {
  return json::array({{{"protocol", "TCP"}, {"port", port}}});
}

json pods_of_job(const GnnJob& job) {
  return {{"matchLabels", {{kJobLabel, job.meta.name}}}};
}

json from_space(const std::string& space) {
  return {{"namespaceSelector", {{"matchLabels", {{"kubernetes.io/metadata.name", space}}}}}};
}

}  // namespace

std::string keys_secret(const GnnJob& job, const LoginKeys& keys) {
  json secret = object_of(job, "v1", "Secret", job.status.keys);
  secret["type"] = "Opaque";
  secret["immutable"] = true;
  secret["stringData"] = {{"authorized_keys", keys.login.open + "\n"},
                          {"host_key", keys.host.secret},
                          {"id_login", keys.login.secret},
                          {"known_hosts", "* " + keys.host.open + "\n"}};
  return secret.dump();
}

std::string empty_secret(const GnnJob& job, const std::string& name) {
  return object_of(job, "v1", "Secret", name).dump();
}

std::string job_config_map(const GnnJob& job) {
  return config_map(job, job_map_name(job.meta.name, job.made_of.manifest), "job.yaml", job.manifest);
}

std::string prepared_config_map(const GnnJob& job, const std::string& prepared) {
  return config_map(job, prepared_map_name(job.meta.name, job.made_of.prepared), "prepared.json", prepared);
}

std::string attempt_config_map(const GnnJob& job, int attempt, const std::vector<AttemptServer>& servers,
                               const Prepared& prepared) {
  json all = json::array();
  for (const AttemptServer& s : servers)
    all.push_back({{"pod", s.pod}, {"node", s.node}, {"address", s.address}, {"ranks", s.ranks}});
  json content = {{"attempt", attempt}, {"run", job.meta.uid}, {"servers", std::move(all)}};
  if (!prepared.parts.empty()) content["parts"] = prepared.parts;
  if (!prepared.strategy.empty()) content["strategy"] = prepared.strategy;
  if (!prepared.checksum.empty()) content["prepared"] = prepared.checksum;
  return config_map(job, attempt_map_name(job.meta.name, attempt), "attempt.json", content.dump());
}

std::string network_policy(const GnnJob& job, const Settings& settings) {
  json policy = object_of(job, "networking.k8s.io/v1", "NetworkPolicy", job.meta.name);
  const json within = {{"from", json::array({{{"podSelector", pods_of_job(job)}}})}};
  const json metrics = {
      {"from", json::array({from_space(settings.operator_space), from_space(settings.scrape_space)})},
      {"ports", tcp(kMetricsPort)}};
  policy["spec"] = {{"podSelector", pods_of_job(job)},
                    {"policyTypes", {"Ingress"}},
                    {"ingress", json::array({within, metrics})}};
  return policy.dump();
}

// Counts what a gang's pods request once they are made. Besides their ranks' resources, that is memory for
// /dev/shm and what the template adds.

void count_pods(const GnnJob& job, const Settings& settings, Gang& gang) {
  const auto largest = std::ranges::max_element(gang.servers, {}, &std::vector<Rank>::size);
  gang.server.at_least(read_pod(worker_pod(job, settings, 0, *largest, 0)).requests);
  gang.launcher.at_least(read_pod(launcher_pod(job, settings, 1)).requests);
}

// A job's pods. Their commands are the contract with the engine: `atoll prepare`, `supervise` and `launch`.

namespace {

using nlohmann::json;

constexpr const char* kManifest = "/etc/atoll/job/job.yaml";

/// The ssh command. It ignores the configuration of the image and of the user, and strictly checks hosts
/// against the job's own key.
constexpr const char* kShell =
    "ssh -F none -p 2222 -l atoll -i /etc/atoll/keys/id_login -o IdentitiesOnly=yes -o BatchMode=yes "
    "-o StrictHostKeyChecking=yes -o UserKnownHostsFile=/etc/atoll/keys/known_hosts "
    "-o GlobalKnownHostsFile=/dev/null -o ConnectTimeout=10 -o LogLevel=ERROR";

std::string joined(const std::vector<Rank>& ranks) {
  std::string text;
  for (const Rank rank : ranks) text += (text.empty() ? "" : ",") + std::to_string(rank);
  return text;
}

json field_env(const char* name, const char* path) {
  return {{"name", name}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}};
}

json memory_volume(std::int64_t bytes) {
  return {{"emptyDir", {{"medium", "Memory"}, {"sizeLimit", std::to_string(bytes)}}}};
}

json worker_env(const std::vector<Rank>& ranks, int server) {
  return json::array({{{"name", "ATOLL_SERVER"}, {"value", std::to_string(server)}},
                      {{"name", "ATOLL_RANKS"}, {"value", joined(ranks)}},
                      field_env("ATOLL_POD", "metadata.name"),
                      field_env("ATOLL_NODE", "spec.nodeName")});
}

/// Adds NCCL's variables from the operator's settings. If one pod has all ranks, their messages need not
/// leave the pod, so the ranks meet on the loopback device, whatever networks the pod is on.
void add_nccl(json& env, const Job& job, std::size_t ranks, const Settings& settings) {
  if (job.resources.gpus == 0) return;
  auto variables = settings.nccl;
  if (ranks > 1 && int(ranks) == job.placement.ranks) variables.try_emplace("NCCL_SOCKET_IFNAME", "lo");
  for (const auto& [name, value] : variables) env.push_back({{"name", name}, {"value", value}});
}

/// Bytes of /dev/shm for `ranks` ranks: what the job asks for each, or else the operator's default.
std::int64_t shared_memory_of(const Job& job, std::size_t ranks, const Settings& settings) {
  std::int64_t of_rank = job.resources.shared_memory;
  if (of_rank == 0) of_rank = job.resources.gpus > 0 ? settings.cuda_shared_memory : settings.shared_memory;
  return (Resources({{"memory", of_rank}}) * std::int64_t(ranks)).of("memory");
}

/// The seconds in which ranks may write a checkpoint. They are less than the pod's grace, so that the ranks'
/// supervisor has time to report their end.
std::int64_t time_for_ranks(const json& pod) {
  constexpr std::int64_t kForTheSupervisor = 10, kKubernetesDefault = 30;
  const auto grace = integer_of(pod.at("spec"), "terminationGracePeriodSeconds").value_or(kKubernetesDefault);
  return std::max<std::int64_t>(1, grace - kForTheSupervisor);
}

json launcher_resources(const Job& job) {
  const LauncherMemory memory = launcher_memory(job.strategy.row->layout(job).groups.size());
  const auto in_mi = [](std::int64_t bytes) { return fmt::format("{}Mi", bytes >> 20); };
  return {{"requests", {{"cpu", "100m"}, {"memory", in_mi(memory.requested)}}},
          {"limits", {{"memory", in_mi(memory.limit)}}}};
}

/// The container is ready when sshd answers.
void serve_ssh(json& container) {
  container["ports"] = json::array({{{"name", "ssh"}, {"containerPort", kSshPort}},
                                    {{"name", "metrics"}, {"containerPort", kMetricsPort}}});
  container["readinessProbe"] = {{"tcpSocket", {{"port", kSshPort}}},
                                 {"periodSeconds", 2},
                                 {"timeoutSeconds", 5},
                                 {"failureThreshold", 5}};
}

/// Mounts the output. Only the pod of rank 0 does, because only rank 0 writes what resumes a job, so a
/// ReadWriteOnce volume suffices.
void mount_output(json& pod, const Job& job) {
  const json none = {{"emptyDir", json::object()}};
  mount(pod, "output", job.output.volume.empty() ? none : parse_json(job.output.volume), "/output", false);
}

/// Restricts the prepare pod to the nodes that the queue assigned to workers. It takes the room of a worker
/// that doesn't exist yet.
void demand_assigned(json& pod, const GnnJob& job) {
  const AssignedNodes* assigned = only_nodes(job.admitted.worker_nodes);
  if (!assigned) return;
  json names = json::array();
  for (const auto& [node, pods] : assigned->slots) names.push_back(node);
  pod["metadata"]["annotations"][kAssignedAnnotation] = assigned_list(job);
  if (names.empty()) return;
  demand_of_nodes(pod, {{"key", kHostnameLabel}, {"operator", "In"}, {"values", std::move(names)}});
}

}  // namespace

std::string assigned_list(const GnnJob& job) {
  std::string list;
  const AssignedNodes* assigned = only_nodes(job.admitted.worker_nodes);
  if (!assigned) return list;
  for (const auto& [node, pods] : assigned->slots) list += (list.empty() ? "" : ",") + node;
  return list;
}

std::string prepare_pod(const GnnJob& job, const Settings& settings, Moment now) {
  json pod = base_pod(job, settings, prepare_name(job.meta.name), kPrepareRole);
  pod["metadata"]["annotations"][kMadeAnnotation] = text_of(now);
  mount_data(pod, job, true);
  json& engine = engine_of(pod);
  engine["command"] = {"atoll", "prepare", "-f", kManifest};
  name_data(engine["command"], *job.job);
  const int ranks = job.job->placement.ranks_per_server;
  engine["resources"] = rank_resources(*job.job, std::max(ranks, 1), 0);
  merge_template(pod, *job.job, kPrepareRole);
  merge_admitted(pod, job, kPrepareRole);
  demand_platform(pod, settings);
  demand_assigned(pod, job);
  return pod.dump();
}

std::string worker_pod(const GnnJob& job, const Settings& settings, int server,
                       const std::vector<Rank>& ranks, int incarnation) {
  json pod = base_pod(job, settings, worker_name(job.meta.name, server, incarnation), kWorkerRole);
  pod["metadata"]["labels"][kServerLabel] = std::to_string(server);
  pod["metadata"]["labels"][kIncarnationLabel] = std::to_string(incarnation);
  pod["metadata"]["annotations"][kRanksAnnotation] = joined(ranks);
  add_gate(pod);
  mount_data(pod, job, false);
  mount(pod, "keys", keys_source(job, {"authorized_keys", "host_key"}), "/etc/atoll/keys", true);
  const auto shared = shared_memory_of(*job.job, ranks.size(), settings);
  mount(pod, "shm", memory_volume(shared), "/dev/shm", false);
  if (ranks.front() == 0) mount_output(pod, *job.job);
  json& engine = engine_of(pod);
  engine["env"] = worker_env(ranks, server);
  add_nccl(engine["env"], *job.job, ranks.size(), settings);
  engine["resources"] = rank_resources(*job.job, int(ranks.size()), shared);
  add_gpus(pod, *job.job, int(ranks.size()), settings.gpu_resource);
  serve_ssh(engine);
  merge_template(pod, *job.job, kWorkerRole);
  merge_admitted(pod, job, kWorkerRole);
  demand_platform(pod, settings);
  engine_of(pod)["command"] = {"atoll", "supervise", "--grace", std::to_string(time_for_ranks(pod))};
  return pod.dump();
}

std::string launcher_pod(const GnnJob& job, const Settings& settings, int attempt) {
  json pod = base_pod(job, settings, launcher_name(job.meta.name, attempt), kLauncherRole);
  pod["metadata"]["labels"][kAttemptLabel] = std::to_string(attempt);
  add_gate(pod);
  mount(pod, "keys", keys_source(job, {"id_login", "known_hosts"}), "/etc/atoll/keys", true);
  const json attempt_map = {{"configMap", {{"name", attempt_map_name(job.meta.name, attempt)}}}};
  mount(pod, "attempt", attempt_map, "/etc/atoll/attempt", true);
  json& engine = engine_of(pod);
  engine["command"] = {"atoll", "launch", "-f", kManifest, "--servers", "/etc/atoll/attempt/attempt.json"};
  name_data(engine["command"], *job.job);
  for (const std::string& argument :
       {std::string("--output"), std::string("/output"), std::string("--result"),
        std::string("/dev/termination-log"), std::string("--shell"), std::string(kShell),
        std::string("--metrics"), fmt::format("[::]:{}", kMetricsPort)})
    engine["command"].push_back(argument);
  engine["resources"] = launcher_resources(*job.job);
  merge_template(pod, *job.job, kLauncherRole);
  merge_admitted(pod, job, kLauncherRole);
  demand_platform(pod, settings);
  return pod.dump();
}

}  // namespace atl::ctl
