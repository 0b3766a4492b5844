// The user's partial pod template (spec.template), merged into a generated pod: which fields users may set,
// how these are merged, and which would break a job and are refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// One line for each thing that isn't allowed in `template` or in a volume: "template.spec.hostNetwork: …".
/// Empty: merge_template() will succeed. `is_accepted`: an operator has taken the job before; what an earlier
/// release allowed is no fault of it then: marks of Kueue's, and some fields.
std::vector<std::string> template_faults(const Job& job, const Settings& settings, bool is_accepted = false);

/// What the engine accepts on one machine, but a cluster can't do. `is_new`: no operator has taken the job
/// yet.
std::vector<std::string> faults_on_cluster(const Job& job, const Settings& settings, bool is_new);

/// Whether a label or an annotation of that key says which pods Kueue placed.
bool is_mark_of_kueue(const std::string& key);

/// Merges what the job's queue asks of such a pod, in the same way. Where it assigned nodes, marks the pod as
/// one of those for which it did; the prepare pod counts as a worker, because none runs beside it. Where it
/// assigned domains of another level, says only that they have been counted.
void merge_admitted(nlohmann::json& pod, const GnnJob& job, const char* role);

/// Merges labels, annotations, nodeSelector, securityContext and resources key by key, where null removes a
/// key. Appends tolerations, volumes, volumeMounts, envFrom, imagePullSecrets and init containers. Merges env
/// by name. Replaces affinity and everything else. Resources of the container "engine" go to workers alone,
/// because only they run ranks; those of "launcher" go to the launcher. Leaves out marks of Kueue's, which
/// are for merge_admitted() to set.
void merge_template(nlohmann::json& pod, const Job& job, const char* role);

// Faults of a manifest that only the API server can judge: pod templates and volumes, which the CRD leaves
// unchecked. Before anything of the job is made, one pod with all of them is tried; a fault in it would be
// one for ever.

/// The pod to try, a worker of these ranks; "" where the manifest has nothing that needs judging.
/// Precondition: the engine accepts the job.
std::string trial_pod(const GnnJob& job, const Settings& settings, const std::vector<Rank>& ranks);

/// The API server's words about that pod, with its paths replaced by the manifest's.
std::string in_manifest(const std::string& words, const std::string& trial);

// What gives a pod more than its own: the Pod Security level baseline (kubernetes.io/docs/concepts/security/
// pod-security-standards), and what goes beyond it for pods of jobs. The table is charts/atoll/guards.json,
// of which the chart makes its policies too, so that API server and operator refuse the same.

/// The table's text, of which the build makes a part of the program.
extern const char* const kGuardsTable;

/// What a pod, or a part of it, may not say.
struct Breach {
  std::string path;  // "template.spec.initContainers[helper].securityContext.privileged"
  std::string what;  // "'true' is not allowed here (…)", with what is allowed
};

/// In a set of what is allowed: capabilities of any name.
inline constexpr const char* kAnyCapability = "*";

/// The breaches in a part of a pod that lies at `path`. `kind` is what the table calls such a part: "pod"
/// (its spec), "container", "volume" or "annotations". `allowed`: as Settings has it.
std::vector<Breach> breaches(const nlohmann::json& part, const std::string& kind, const std::string& path,
                             const std::set<std::string>& allowed);

/// What the chart's jobs.allow can name: hostPath, privileged, …
std::set<std::string> guarded_features();
/// One of these, or a capability's name: IPC_LOCK.
bool is_allowable(const std::string& feature);

}  // namespace atl::ctl
