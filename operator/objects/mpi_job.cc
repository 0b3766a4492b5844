// The objects for launcher: mpijob. Instead of pods, the operator makes a Kubeflow MPIJob
// (kubeflow.org/v2beta1), from which mpi-operator makes the pods. Its templates carry our gate, and its
// launcher's template is entirely ours. So its pods are placed, released, watched and told their ranks like
// our own. mpi-operator's host file and keys are mounted but not used.
#include "operator/objects/objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>

#include "base/json.h"
#include "base/text.h"
#include "operator/api/json_values.h"
#include "operator/objects/names.h"
#include "operator/objects/parts.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using Servers = std::vector<std::vector<Rank>>;

constexpr const char* kJobUidAnnotation = "atoll.dev/job-uid";
constexpr const char* kServersAnnotation = "atoll.dev/servers";               // "0,1;2,3": ranks by server
constexpr const char* kReplicaLabel = "training.kubeflow.org/replica-index";  // mpi-operator sets it
constexpr const char* kTheirKeys = "/etc/atoll/mpi-operator-keys";  // mounted in all pods, trusted in none

std::string text_of_servers(const Servers& servers) {
  std::string text;
  for (const auto& ranks : servers) text += fmt::format("{}{}", text.empty() ? "" : ";", joined(ranks, ","));
  return text;
}

/// The ranks of server `number`, from the list of all servers' ranks.
std::string ranks_in(const std::string& servers, const std::string& number) {
  std::istringstream stream(servers);
  int next = 0;
  for (std::string ranks; std::getline(stream, ranks, ';'); ++next)
    if (std::to_string(next) == number) return ranks;
  return {};
}

/// A pod template for an MPIJob. The pods will belong to the MPIJob, or to a Job of it, so an annotation
/// names their GNNJob.
json template_of(json pod, const GnnJob& job, int attempt) {
  json& metadata = pod["metadata"];
  metadata["labels"][kAttemptLabel] = std::to_string(attempt);
  metadata["annotations"][kJobUidAnnotation] = job.meta.uid;
  pod["spec"].erase("restartPolicy");  // an MPIJob has it beside the template
  return {{"metadata", {{"labels", metadata["labels"]}, {"annotations", metadata["annotations"]}}},
          {"spec", pod["spec"]}};
}

json without_server(const json& env) {
  json kept = json::array();
  for (const json& variable : env)
    if (const auto name = text_of(variable, "name"); name != "ATOLL_SERVER" && name != "ATOLL_RANKS")
      kept.push_back(variable);
  return kept;
}

/// The template of all workers. Each is as large as the largest server's, and each mounts the output, because
/// one of them has rank 0.
json worker_template(const GnnJob& job, const Settings& settings, int attempt, const Servers& servers,
                     std::size_t most) {
  std::vector<Rank> ranks(most);
  std::iota(ranks.begin(), ranks.end(), 0);
  json pod = parse_json(worker_pod(job, settings, 0, ranks, 0));
  json& metadata = pod["metadata"];
  for (const char* label : {kServerLabel, kIncarnationLabel}) metadata["labels"].erase(label);
  metadata["annotations"].erase(kRanksAnnotation);
  metadata["annotations"][kServersAnnotation] = text_of_servers(servers);
  json& engine = engine_of(pod);
  engine["env"] = without_server(engine["env"]);
  return template_of(std::move(pod), job, attempt);
}

json replicas(std::size_t count, json pod_template) {
  return {{"replicas", count}, {"restartPolicy", "Never"}, {"template", std::move(pod_template)}};
}

/// Whether RFC 1035 allows the name. The name of a worker's host begins with its job's name.
bool is_host_name(const std::string& name) {
  constexpr std::size_t kLongest = 63;
  return name.size() <= kLongest && name[0] >= 'a' && name[0] <= 'z' && name.find('.') == std::string::npos;
}

}  // namespace

std::string mpi_job(const GnnJob& job, const Settings& settings, int attempt, const Servers& servers,
                    Moment now) {
  std::size_t most = 0;
  for (const auto& ranks : servers) most = std::max(most, ranks.size());
  const json launcher = template_of(parse_json(launcher_pod(job, settings, attempt)), job, attempt);
  json object = object_of(job, "kubeflow.org/v2beta1", "MPIJob", mpi_job_name(job.meta.name, attempt));
  object["metadata"]["annotations"][kMadeAnnotation] = text_of(now);
  // The launcher is created at startup, so that it is placed together with the workers. Its scheduling gate
  // holds it back until the workers are ready. Restarts and clean-up are our operator's work: it numbers the
  // attempts, and keeps a failed attempt's pods until it has read why they failed.
  object["spec"] = {
      {"slotsPerWorker", most},
      {"sshAuthMountPath", kTheirKeys},
      {"mpiImplementation", "OpenMPI"},
      {"launcherCreationPolicy", "AtStartup"},
      {"runPolicy", {{"cleanPodPolicy", "None"}, {"backoffLimit", 0}}},
      {"mpiReplicaSpecs",
       {{"Launcher", replicas(1, launcher)},
        {"Worker", replicas(servers.size(), worker_template(job, settings, attempt, servers, most))}}}};
  return object.dump();
}

PodView adopted(PodView pod) {
  const std::string job_uid = pod.meta.annotation(kJobUidAnnotation);
  if (job_uid.empty()) return pod;
  pod.meta.owner_uid = job_uid;
  const std::string number = pod.meta.label(kReplicaLabel);
  if (number.empty()) return pod;
  pod.meta.labels[kServerLabel] = number;
  pod.meta.annotations[kRanksAnnotation] = ranks_in(pod.meta.annotation(kServersAnnotation), number);
  return pod;
}

std::string mpi_job_failure(const json& object) {
  for (const json& condition : list_of(member(object, "status"), "conditions"))
    if (text_of(condition, "type") == "Failed" && text_of(condition, "status") == "True")
      return fmt::format("{}: {}", text_of(condition, "reason"), text_of(condition, "message"));
  return {};
}

std::vector<std::string> mpi_job_faults(const Job& job, const Settings& settings) {
  constexpr int kLastAttempt = 999'999;
  std::vector<std::string> faults;
  if (!settings.mpi_jobs)
    faults.emplace_back(
        "launcher: mpijob is off in this operator (use launcher: atoll, or set the chart's mpiJobs.enabled)");
  const std::string last_worker =
      fmt::format("{}-worker-{}", mpi_job_name(job.name, kLastAttempt), job.placement.ranks - 1);
  if (!is_host_name(last_worker))
    faults.push_back(fmt::format(
        "metadata.name: '{}' is not allowed with launcher: mpijob: its pods' name {} must have at most 63 "
        "characters, start with a letter, and have no '.'",
        job.name, last_worker));
  return faults;
}

}  // namespace atl::ctl
