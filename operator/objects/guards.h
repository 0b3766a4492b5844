// What gives a pod more than its own: the Pod Security level baseline (kubernetes.io/docs/concepts/security/
// pod-security-standards), and what goes beyond it for pods of jobs. The table is charts/atoll/guards.json,
// of which the chart makes its policies too, so that API server and operator refuse the same.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

namespace atl::ctl {

/// The table's text, of which the build makes a part of the program.
extern const char* const kGuardsTable;

/// What a pod, or a part of it, may not say.
struct Breach {
  std::string path;  // "template.spec.initContainers[helper].securityContext.privileged"
  std::string what;  // "'true' is not allowed here (…)", with what is allowed
};

/// In a set of what is allowed: capabilities of any name.
inline constexpr const char* kAnyCapability = "*";

/// Of a part of a pod that lies at `path`. `kind`: what the table calls such a part: "pod" (its spec),
/// "container", "volume" or "annotations". `allowed`: as Settings has it.
std::vector<Breach> breaches(const nlohmann::json& part, const std::string& kind, const std::string& path,
                             const std::set<std::string>& allowed);

/// What the chart's jobs.allow can name: hostPath, privileged, …
std::set<std::string> guarded_features();
/// One of these, or a capability's name: IPC_LOCK.
bool is_allowable(const std::string& feature);

}  // namespace atl::ctl
