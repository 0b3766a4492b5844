// The user's partial pod template (spec.template), which is merged into generated pods: which fields users
// may set, how they are merged, and which ones would break a job and are refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// One line for each thing that isn't allowed in `template` or in a volume: "template.spec.hostNetwork: …".
/// If there are none, merge_template() will succeed. `is_accepted` says that an operator has taken the job
/// before. Then some fields, and Kueue's marks, are no faults, because earlier releases allowed them.
std::vector<std::string> template_faults(const Job& job, const Settings& settings, bool is_accepted = false);

/// One line for each thing in the manifest that the engine accepts on one machine, but that a cluster can't
/// do. `is_new` says that no operator has taken the job yet.
std::vector<std::string> faults_on_cluster(const Job& job, const Settings& settings, bool is_new);

/// Whether the label or annotation with this key tells which pods Kueue has placed.
bool is_mark_of_kueue(const std::string& key);

/// Merges what the job's queue demands of a pod of this role, in the same way. If the queue assigned nodes,
/// marks the pod as one for which it did. The prepare pod counts as a worker, because no worker runs at the
/// same time. If the queue assigned domains of another level, the pod only says that it has been counted.
void merge_admitted(nlohmann::json& pod, const GnnJob& job, const char* role);

/// Merges the template into a pod. Labels, annotations, nodeSelector, securityContext and resources are
/// merged key by key, where null removes a key. Tolerations, volumes, volumeMounts, envFrom, imagePullSecrets
/// and init containers are appended. Env is merged by name. Affinity and everything else is replaced. The
/// resources of the container "engine" go to workers alone, because only they run ranks; those of "launcher"
/// go to the launcher. Kueue's marks are left out, because merge_admitted() sets them.
void merge_template(nlohmann::json& pod, const Job& job, const char* role);

// Faults of a manifest that only the API server can judge, in pod templates and volumes, which the CRD
// doesn't check. Before anything of the job is made, one pod with all of them is sent as a dry run. A fault
// found later would make the job fail for ever.

/// The pod for the dry run: a worker of these ranks. "" if the manifest has nothing that needs judging.
/// Precondition: the engine accepts the job.
std::string trial_pod(const GnnJob& job, const Settings& settings, const std::vector<Rank>& ranks);

/// The API server's words about that pod, with its paths replaced by those of the manifest.
std::string in_manifest(const std::string& words, const std::string& trial);

// Fields that give a pod more rights than it should have: those that the Pod Security level baseline
// (kubernetes.io/docs/concepts/security/pod-security-standards) forbids, and more for pods of jobs. The table
// is charts/atoll/guards.json. The chart makes its policies from the same table, so API server and operator
// refuse the same.

/// The text of the table, which the build compiles into the program.
extern const char* const kGuardsTable;

/// A field of a pod, or of a part of it, that isn't allowed.
struct Breach {
  std::string path;  // "template.spec.initContainers[helper].securityContext.privileged"
  std::string what;  // "'true' is not allowed here (…)", with what is allowed
};

/// Stands for capabilities of any name in a set of allowed features.
inline constexpr const char* kAnyCapability = "*";

/// The breaches in a part of a pod that lies at `path`. `kind` is the table's name for such a part: "pod"
/// (its spec), "container", "volume" or "annotations". `allowed` is Settings::allowed.
std::vector<Breach> breaches(const nlohmann::json& part, const std::string& kind, const std::string& path,
                             const std::set<std::string>& allowed);

/// The features that the chart's jobs.allow can name: hostPath, privileged, …
std::set<std::string> guarded_features();
/// Whether jobs.allow can name it: one of these features, or a capability such as IPC_LOCK.
bool is_allowable(const std::string& feature);

}  // namespace atl::ctl
