// A job's place in a queue: Kueue's Workload (kueue.x-k8s.io). Kueue reserves quota for it, which shows in
// its conditions and its admission, and assigns kinds of nodes, ResourceFlavors. What a flavor asks of pods
// is kept as a partial pod template, like the user's own.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/condition.h"

namespace atl::ctl {

inline constexpr const char *kQuotaReserved = "QuotaReserved", *kAdmitted = "Admitted", *kEvicted = "Evicted",
                            *kRequeued = "Requeued", *kPodsReady = "PodsReady", *kFinished = "Finished";

/// The sets of pods in our Workloads.
inline constexpr const char *kWorkerPods = "worker", *kLauncherPods = "launcher";

struct Workload {
  /// The assignment of one set of pods.
  struct PodSet {
    std::string name;
    std::set<std::string> flavors;
    std::vector<std::string> updates{};  // from admission checks: partial pod templates, JSON
  };
  std::string queue;
  bool has_status = false;
  std::vector<Condition> conditions;
  bool has_admission = false;  // quota is reserved
  std::vector<PodSet> assigned;
  std::string checks;  // messages of admission checks that aren't ready
};

/// `object`: the API's JSON.
Workload read_workload(const nlohmann::json& object);

/// Whether its job may have pods.
bool is_admitted(const Workload& workload);

/// What a ResourceFlavor asks of pods, as a partial pod template.
std::string flavor_template(const nlohmann::json& object);

/// What an admission asks of a job's pods: partial pod templates, or "".
struct Admitted {
  std::string workers, launcher;
  std::string unknown;  // a flavor that isn't known
};

/// `flavor`: returns a flavor's template by its name; nothing where there is no such flavor.
Admitted admitted_pods(const Workload& workload,
                       const std::function<std::optional<std::string>(const std::string&)>& flavor);

/// A job's priority in its queue: from a class, or 0 where the job names none and there is no default.
struct QueuePriority {
  std::string group, kind, name;
  int value = 0;
};

}  // namespace atl::ctl
