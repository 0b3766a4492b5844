// Faults of a manifest that only the API server can judge: pod templates and volumes, which the CRD leaves
// unchecked. Before anything of the job is made, one pod with all of them is tried; a fault in it would be
// one for ever.
#pragma once

#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// The pod to try, a worker of these ranks; "" where the manifest has nothing that needs judging.
/// Precondition: the engine accepts the job.
std::string trial_pod(const GnnJob& job, const Settings& settings, const std::vector<Rank>& ranks);

/// The API server's words about that pod, with its paths replaced by the manifest's.
std::string in_manifest(const std::string& words, const std::string& trial);

}  // namespace atl::ctl
