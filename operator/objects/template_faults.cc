// What a template may not say, because the job would not work or would not match its plan, and what a
// template or a volume may say only if the operator allows it (template.h).
// charts/atoll/templates/_template_rules.tpl says the same to the API server, and a test compares the tables.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/json.h"
#include "job/quantity.h"
#include "job/strategies.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/objects/template.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using Names = std::map<std::string, std::string>;  // refused field → what to do instead

const Names kRefusedOfSpec = {
    {"schedulingGates", "the operator's own gate holds pods back until all have a place"},
    {"nodeName", "use nodeSelector or affinity.nodeAffinity: the plan chooses among those nodes"},
    {"topologySpreadConstraints", "placement decides where ranks run"},
    {"restartPolicy", "runPolicy.backoffLimit says how often the job is restarted"},
    {"activeDeadlineSeconds", "use runPolicy.activeDeadlineSeconds"},
    {"automountServiceAccountToken", "a job's pods hold no credentials of the cluster"},
    {"hostNetwork", "every pod's sshd needs port 2222 for itself"},
    {"hostPID", "a rank must see only its own pod's processes"},
    {"hostIPC", "ranks share memory within their pod"},
    {"hostname", "ranks find their place by it"},
    {"hostnameOverride", "ranks find their place by the host's name"},
    {"schedulingGroup", "the operator's own gate holds pods back until all have a place"},
    {"workloadRef", "the operator's own gate holds pods back until all have a place"},
    {"subdomain", "ranks find their place by the host's name"},
    {"ephemeralContainers", "they can't be made with a pod"},
};

const Names kRefusedOfContainer = {
    {"image", "use spec.image"},
    {"command", "it is the contract between operator and engine"},
    {"args", "it is the contract between operator and engine"},
    {"workingDir", "it is the contract between operator and engine"},
    {"ports", "2222 and 9400 are taken; pods can use other ports without naming them"},
    {"readinessProbe", "ready means that sshd answers"},
    {"restartPolicy", "runPolicy.backoffLimit says how often the job is restarted"},
    {"restartPolicyRules", "runPolicy.backoffLimit says how often the job is restarted"},
    {"terminationMessagePath", "the operator reads the result from it"},
    {"terminationMessagePolicy", "the operator reads the result from it"},
    {"stdin", "nobody types into a rank"},
    {"tty", "nobody types into a rank"},
};

/// Fields that earlier releases accepted. A job that was accepted with one goes on as it is.
const std::set<std::string> kPassedBefore = {
    "template.spec.hostnameOverride",
    "template.spec.schedulingGroup",
    "template.spec.workloadRef",
    "template.spec.containers[engine].restartPolicy",
    "template.spec.containers[engine].restartPolicyRules",
};

constexpr const char* kEmptyInEachPod = "each pod would have an empty one: name a volume that all pods mount";
const Names kRefusedOfData = {{"emptyDir", kEmptyInEachPod}};
const Names kRefusedOfPrepared = {{"emptyDir", kEmptyInEachPod}, {"ephemeral", kEmptyInEachPod}};

const std::set<std::string> kOurVolumes = {"tmp",      "run",  "users", "job",    "data",
                                           "prepared", "keys", "shm",   "output", "attempt"};
const std::set<std::string> kOurPaths = {
    "/tmp",      "/run/atoll", "/var/lib/extrausers", "/etc/atoll/job",     "/data",
    "/prepared", "/dev/shm",   "/etc/atoll/keys",     "/etc/atoll/attempt", "/output"};
const std::set<std::string> kOfRanks = {"cpu", "memory"};
/// NVIDIA's device plugin's names of GPUs: whole ones, shared ones (nvidia.com/gpu.shared), and MIG's slices
/// (nvidia.com/mig-1g.10gb).
const std::set<std::string> kGpuFamilies = {"nvidia.com/gpu", "nvidia.com/mig-"};

/// Beginnings of the keys that tell Kueue which pods it has placed already and needn't count again.
const std::set<std::string> kMarksOfKueue = {"kueue.x-k8s.io/podset", "kueue.x-k8s.io/workload"};

class Faults {
 public:
  Faults(const Settings& settings, bool is_accepted)
      : allowed_(settings.allowed), gpu_(settings.gpu_resource), is_accepted_(is_accepted) {}

  std::vector<std::string> all;

  void add(const std::string& path, const std::string& what) { all.push_back(path + ": " + what); }

  /// Adds the breaches in a part of the template. A field that is refused by name already isn't reported
  /// twice.
  void guard(const json& part, const char* kind, const std::string& path) {
    for (const Breach& breach : breaches(part, kind, path, allowed_))
      if (std::ranges::none_of(all,
                               [&](const std::string& said) { return said.starts_with(breach.path + ": "); }))
        add(breach.path, breach.what);
  }

  /// Checks amounts that the operator will add up. An invalid one would make each look at the job fail, and
  /// nobody would be told.
  void quantities(const json& amounts, const std::string& path) {
    for (const auto& [name, amount] : amounts.items())
      if (!amount.is_null() && !parse_quantity(text_of(amount)))
        add(path + "." + name, "'" + text_of(amount) + "' is no quantity (use one like 500m or 1Gi)");
  }

  /// Checks the engine's container, an init container, or one that runs beside them.
  void any_container(const json& container, const std::string& path) {
    guard(container, "container", path);
    for (const char* kind : {"requests", "limits"}) {
      const json& amounts = member(member(container, "resources"), kind);
      quantities(amounts, path + ".resources." + kind);
      for (const auto& [name, amount] : amounts.items())
        if (is_gpu(name))
          add(path + ".resources." + kind + "." + name,
              fmt::format("can't be set (a job's GPUs are all {}: use spec.resources)", gpu_));
    }
  }

  void refuse(const json& object, const Names& names, const std::string& path) {
    for (const auto& [name, instead] : names)
      if (object.contains(name) && !(is_accepted_ && kPassedBefore.contains(path + "." + name)))
        add(path + "." + name, "can't be set (" + instead + ")");
  }

  void metadata(const json& metadata) {
    for (const auto& [key, value] : metadata.items()) {
      if (key != "labels" && key != "annotations")
        add("template.metadata." + key, "can't be set (labels and annotations can)");
      for (const auto& [name, text] : value.items()) {
        if (name.starts_with("atoll.dev/") || name == kManagedByLabel)
          add("template.metadata." + key + "." + name, "is the operator's (choose another key)");
        if (is_mark_of_kueue(name) && !is_accepted_)
          add("template.metadata." + key + "." + name,
              "is the operator's (placement.within asks Kueue for one domain of a topology)");
      }
    }
    guard(member(metadata, "annotations"), "annotations", "template.metadata.annotations");
  }

  void engine(const json& container) {
    const std::string path = "template.spec.containers[" + std::string(kEngine) + "]";
    refuse(container, kRefusedOfContainer, path);
    for (const json& variable : member(container, "env"))
      if (text_of(variable, "name").starts_with("ATOLL_"))
        add(path + ".env[" + text_of(variable, "name") + "]", "is the operator's (choose another name)");
    for (const char* kind : {"requests", "limits"})
      for (const auto& [name, amount] : member(member(container, "resources"), kind).items())
        if (kOfRanks.contains(name))
          add(path + ".resources." + kind + "." + name, "can't be set (use spec.resources)");
    for (const json& at : member(container, "volumeMounts"))
      if (kOurPaths.contains(text_of(at, "mountPath")))
        add(path + ".volumeMounts", text_of(at, "mountPath") + " is taken (mount it elsewhere)");
  }

  /// Checks the container "launcher". The launcher runs the engine's container too, so only its resources can
  /// be set.
  void launcher(const json& container) {
    const std::string path = "template.spec.containers[" + std::string(kLauncherRole) + "]";
    for (const auto& [key, value] : container.items())
      if (key != "name" && key != "resources")
        add(path + "." + key, "can't be set (only resources can: all else is said of 'engine')");
  }

  /// Checks the shape of the fields that say where pods may go, because the operator narrows them. The API
  /// server judges all other shapes, by a dry run.
  void places(const json& spec) {
    std::string path = "template.spec";
    if (const json& selector = member(spec, "nodeSelector");
        !selector.is_null() && !selector.is_object() && !is_accepted_)
      add(path + ".nodeSelector", "is no object (use one like {disk: ssd})");
    const json* part = &spec;
    for (const char* name : {"affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution"}) {
      part = &member(*part, name);
      path += std::string(".") + name;
      if (part->is_null()) return;
      if (!part->is_object()) return add(path, "is no object (kubectl explain pod.spec.affinity)");
    }
    const auto is_list = [](const json& value) { return value.is_null() || value.is_array(); };
    const auto is_term = [&](const json& term) {
      return (term.is_null() || term.is_object()) && is_list(member(term, "matchExpressions")) &&
             is_list(member(term, "matchFields"));
    };
    const json& terms = member(*part, "nodeSelectorTerms");
    if (!is_list(terms) || !std::ranges::all_of(terms, is_term))
      add(path + ".nodeSelectorTerms",
          "is no list of terms with lists of rules (kubectl explain pod.spec.affinity)");
  }

  void spec(const json& spec) {
    const std::string path = "template.spec";
    refuse(spec, kRefusedOfSpec, path);
    guard(spec, "pod", path);
    places(spec);
    quantities(member(spec, "overhead"), path + ".overhead");
    for (const char* kind : {"requests", "limits"})
      quantities(member(member(spec, "resources"), kind), path + ".resources." + kind);
    for (const char* kind : {"podAffinity", "podAntiAffinity"})
      if (member(spec, "affinity").contains(kind))
        add(path + ".affinity." + kind, "can't be set (placement decides where ranks run)");
    for (const json& given : member(spec, "volumes")) {
      const std::string name = text_of(given, "name"), at = path + ".volumes[" + name + "]";
      if (kOurVolumes.contains(name)) add(at, "is the operator's (choose another name)");
      guard(given, "volume", at);
    }
    for (const char* list : {"containers", "initContainers"})
      for (const json& container : member(spec, list))
        any_container(container, fmt::format("{}.{}[{}]", path, list, text_of(container, "name")));
    for (const json& container : member(spec, "containers")) {
      const std::string name = text_of(container, "name");
      if (name == kEngine)
        engine(container);
      else if (name == kLauncherRole)
        launcher(container);
      else
        add(path + ".containers[" + name + "]",
            "can't be added (only 'engine' can be changed, and resources of 'launcher'; a helper beside it is an "
            "init container with restartPolicy: Always)");
    }
  }

 private:
  bool is_gpu(const std::string& resource) const {
    return resource == gpu_ || std::ranges::any_of(kGpuFamilies, [&](const std::string& family) {
             return resource.starts_with(family);
           });
  }

  const std::set<std::string>& allowed_;
  const std::string& gpu_;  // kubelets' name of a GPU
  const bool is_accepted_;
};

json parsed(const std::string& text) {
  return text.empty() ? json::object() : parse_json(text);
}

/// Refuses several ranks in a pod with MIG slices. CUDA shows a process only one slice, however many its
/// container has, so all ranks of the pod would share it.
std::string fault_of_slices(const Job& job, const Settings& settings) {
  if (job.resources.gpus == 0 || !settings.gpu_resource.starts_with(kMigSlices)) return {};
  std::size_t most = 0;
  for (const auto& ranks : job.strategy.row->layout(job).groups) most = std::max(most, ranks.size());
  if (most <= 1) return {};
  return fmt::format(
      "placement.ranksPerServer: {} ranks of a pod would share one {}, for CUDA shows a process one of MIG's slices (use "
      "1, and a strategy whose ranks need not share a server)",
      most, settings.gpu_resource);
}

}  // namespace

bool is_mark_of_kueue(const std::string& key) {
  return std::ranges::any_of(kMarksOfKueue, [&](const std::string& mark) { return key.starts_with(mark); });
}

std::vector<std::string> template_faults(const Job& job, const Settings& settings, bool is_accepted) {
  Faults faults(settings, is_accepted);
  faults.guard(parsed(job.dataset.volume), "volume", "dataset.volume");
  faults.refuse(parsed(job.dataset.volume), kRefusedOfData, "dataset.volume");
  faults.guard(parsed(job.dataset.prepared), "volume", "dataset.prepared");
  faults.refuse(parsed(job.dataset.prepared), kRefusedOfPrepared, "dataset.prepared");
  faults.guard(parsed(job.output.volume), "volume", "output.volume");
  const json given = parsed(job.template_);
  for (const auto& [key, value] : given.items())
    if (key != "metadata" && key != "spec")
      faults.add("template." + key, "is not a field of a pod template (use metadata or spec)");
  faults.metadata(member(given, "metadata"));
  faults.spec(member(given, "spec"));
  return faults.all;
}

std::vector<std::string> faults_on_cluster(const Job& job, const Settings& settings, bool is_new) {
  std::vector<std::string> faults = template_faults(job, settings, !is_new);
  if (job.dataset.volume.empty())
    faults.emplace_back(
        "dataset.volume: is required on a cluster (name a volume that all pods can mount and that holds "
        "the data root)");
  if (const std::string fault = fault_of_slices(job, settings); !fault.empty()) faults.push_back(fault);
  if (job.launcher == Launcher::kMpiJob)
    std::ranges::move(mpi_job_faults(job, settings), std::back_inserter(faults));
  return faults;
}

}  // namespace atl::ctl
