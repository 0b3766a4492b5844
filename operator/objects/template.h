// The user's partial pod template (spec.template) merged over a generated pod: what users may set, how it
// joins what is there, and which of it would break a job and is refused by name.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// One line for each thing that isn't allowed in `template` or in a volume: "template.spec.hostNetwork: …".
/// Empty: merge_template() will do.
std::vector<std::string> template_faults(const Job& job, const Settings& settings);

/// Joins what the job's queue asks of such a pod, in the same way.
void merge_admitted(nlohmann::json& pod, const GnnJob& job, const char* role);

/// Labels, annotations, nodeSelector, securityContext and resources are joined key by key, null takes a key
/// away; tolerations, volumes, volumeMounts, envFrom, imagePullSecrets and init containers are appended; env
/// is joined by name; affinity and everything else replaces. Resources go to workers alone: only they run
/// ranks.
void merge_template(nlohmann::json& pod, const Job& job, const char* role);

}  // namespace atl::ctl
