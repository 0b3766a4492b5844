// What a template may not say, because a job would not work, or not be what its plan says.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "operator/objects/names.h"
#include "operator/objects/template.h"
#include "operator/plan/json_members.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using Names = std::map<std::string, std::string>;  // refused field → what to do instead

const Names kRefusedOfSpec = {
    {"schedulingGates", "pods are held back by a gate of ours until all have a place"},
    {"nodeName", "use nodeSelector or affinity.nodeAffinity: the plan chooses among those nodes"},
    {"topologySpreadConstraints", "placement decides where ranks stand"},
    {"restartPolicy", "runPolicy.backoffLimit says how often the job is tried"},
    {"activeDeadlineSeconds", "use runPolicy.activeDeadlineSeconds"},
    {"automountServiceAccountToken", "a job's pods hold no credentials of the cluster"},
    {"hostNetwork", "every pod's sshd needs port 2222 for itself"},
    {"hostPID", "a rank must see its own pod's processes alone"},
    {"hostIPC", "ranks share memory within their pod"},
    {"hostname", "ranks find their place by it"},
    {"subdomain", "ranks find their place by the host's name"},
    {"ephemeralContainers", "they can't be made with a pod"},
};

const Names kRefusedOfContainer = {
    {"image", "use spec.image"},
    {"command", "it is the contract between operator and engine"},
    {"args", "it is the contract between operator and engine"},
    {"workingDir", "it is the contract between operator and engine"},
    {"ports", "2222 and 9400 are taken; pods need not name others to use them"},
    {"readinessProbe", "ready means that sshd answers"},
    {"terminationMessagePath", "the operator reads the result there"},
    {"terminationMessagePolicy", "the operator reads the result there"},
    {"stdin", "nobody is there to type"},
    {"tty", "nobody is there to type"},
};

const std::set<std::string> kOurVolumes = {"tmp",  "run", "users",  "job",    "data",
                                           "keys", "shm", "output", "attempt"};
const std::set<std::string> kOurPaths = {"/tmp",   "/run/atoll", "/var/lib/extrausers", "/etc/atoll/job",
                                         "/data",  "/dev/shm",   "/etc/atoll/keys",     "/etc/atoll/attempt",
                                         "/output"};
const std::set<std::string> kOfRanks = {"cpu", "memory", "nvidia.com/gpu"};

class Faults {
 public:
  std::vector<std::string> all;

  void add(const std::string& path, const std::string& what) {
    all.push_back("template" + path + ": " + what);
  }

  void refuse(const json& object, const Names& names, const std::string& path) {
    for (const auto& [name, instead] : names)
      if (object.contains(name)) add(path + "." + name, "can't be set (" + instead + ")");
  }

  void metadata(const json& metadata) {
    for (const auto& [key, value] : metadata.items()) {
      if (key != "labels" && key != "annotations")
        add(".metadata." + key, "can't be set (labels and annotations can)");
      for (const auto& [name, text] : value.items())
        if (name.starts_with("atoll.dev/") || name == kManagedByLabel)
          add(".metadata." + key + "." + name, "is the operator's (choose another key)");
    }
  }

  void engine(const json& container) {
    const std::string path = ".spec.containers[" + std::string(kEngine) + "]";
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

  void spec(const json& spec) {
    refuse(spec, kRefusedOfSpec, ".spec");
    for (const char* kind : {"podAffinity", "podAntiAffinity"})
      if (member(spec, "affinity").contains(kind))
        add(std::string(".spec.affinity.") + kind, "can't be set (placement decides where ranks stand)");
    for (const json& volume : member(spec, "volumes"))
      if (kOurVolumes.contains(text_of(volume, "name")))
        add(".spec.volumes[" + text_of(volume, "name") + "]", "is the operator's (choose another name)");
    for (const json& container : member(spec, "containers")) {
      const std::string name = text_of(container, "name");
      if (name == kEngine)
        engine(container);
      else
        add(".spec.containers[" + name + "]",
            "can't be added (only 'engine' can be changed; a helper beside it is an init container with "
            "restartPolicy: Always)");
    }
  }
};

}  // namespace

std::vector<std::string> template_faults(const Job& job) {
  if (job.template_.empty()) return {};
  const json given = json::parse(job.template_);
  Faults faults;
  for (const auto& [key, value] : given.items())
    if (key != "metadata" && key != "spec")
      faults.add("." + key, "is no part of a pod template (use metadata or spec)");
  faults.metadata(member(given, "metadata"));
  faults.spec(member(given, "spec"));
  return faults.all;
}

}  // namespace atl::ctl
