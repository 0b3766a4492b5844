// A job's place in a queue: Kueue's Workload (kueue.x-k8s.io). Kueue reserves quota for it, which its
// conditions and its admission tell, and assigns kinds of nodes, ResourceFlavors. What those ask of pods is
// kept as a partial pod template, like the user's own.
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

/// Sets of pods that a Workload of ours counts.
inline constexpr const char *kWorkerPods = "worker", *kLauncherPods = "launcher";

struct Workload {
  /// What is assigned to one set of pods.
  struct PodSet {
    std::string name;
    std::set<std::string> flavors;
    std::vector<std::string> updates{};  // by admission checks: partial pod templates, JSON
  };
  std::string queue;
  bool has_status = false;
  std::vector<Condition> conditions;
  bool has_admission = false;  // quota is reserved
  std::vector<PodSet> assigned;
  std::string checks;  // what admission checks say that aren't ready
};

/// `object`: the API's.
Workload read_workload(const nlohmann::json& object);

/// Its job may have pods.
bool is_admitted(const Workload& workload);

/// What a ResourceFlavor asks of pods, as a partial pod template.
std::string flavor_template(const nlohmann::json& object);

/// What an admission asks of a job's pods: partial pod templates, or "".
struct Admitted {
  std::string workers, launcher;
  std::string unknown;  // a flavor that nothing is known of
};

/// `flavor`: a flavor's template by its name; nothing where there is none of that name.
Admitted admitted_pods(const Workload& workload,
                       const std::function<std::optional<std::string>(const std::string&)>& flavor);

/// What orders a queue: a class, or where a job names none and there is no default, 0.
struct QueuePriority {
  std::string group, kind, name;
  int value = 0;
};

}  // namespace atl::ctl
