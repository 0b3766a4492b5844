// Everything that a decision about a job may turn on, as it was seen at one moment. Nothing else is
// remembered: an operator that has just started decides like one that has run for a month.
#pragma once

#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/messages.h"
#include "operator/api/pod.h"
#include "operator/objects/login_keys.h"
#include "operator/plan/gang.h"
#include "operator/plan/snapshot.h"

namespace atl::ctl {

enum class Kind { kJob, kPod, kConfigMap, kSecret, kNetworkPolicy, kMpiJob, kWorkload };
/// "Pod"
const char* name_of(Kind kind);

/// An object that isn't a pod.
struct ObjectView {
  Kind kind = Kind::kConfigMap;
  Meta meta;
  std::shared_ptr<const Prepared> prepared{};  // of a ConfigMap: its prepared.json, if it has one
  std::string failure{};                       // of an MPIJob: why it failed, if it did
  std::optional<Workload> workload{};
};

struct NodeView {
  bool ready = true;
  Moment since{};  // when `ready` changed last; of one that is missing: when it was missed first
  std::map<std::string, std::string> labels;
  bool cordoned = false;
  std::vector<Taint> taints{};
  // we know of no such node: it was deleted, or has just come; it isn't ready either
  bool is_missing = false;
};

/// What the servers of its ranks say in the present attempt. They are asked every few seconds.
struct ProgressReport {
  std::optional<Progress> progress;  // nothing: none has answered yet
  Moment advanced{};                 // when an epoch was last seen to end
  Moment answered{};                 // when a server last answered; none yet: when one was first asked
  std::optional<std::int64_t> stalled_rank;  // the rank that others wait for, where that is known
};

/// An object that the API server refused (quota, LimitRange, admission).
struct Refusal {
  std::string object, message;  // "Pod cora-0-0"
};

/// What a decision may look up in the caches, or compute, besides what was observed. Where a decision needs
/// what only the API server knows, it says so (Decision::wants) and is made again with the answer. The one
/// exception is where a plan's volume claims can be used: that is asked at once, and remembered for half a
/// minute (ClaimPlaces).
class ClusterView {
 public:
  virtual ~ClusterView() = default;
  /// On the cluster as it is now, pods that are pinned counted.
  virtual GangPlan plan(const Gang& gang) = 0;
  /// Pods on the node that aren't the job's.
  virtual std::vector<std::string> other_pods(const std::string& node) = 0;
  /// Whether an older job also has some pods and is refused others, so that this one gives way (decide.h).
  virtual bool is_another_first() = 0;
  virtual LoginKeys new_keys() = 0;
};

/// Whether a Secret is there, which nobody here may read.
struct SecretAnswer {
  std::optional<bool> is_gone;  // nothing: the server doesn't say
};

struct Observed {
  GnnJob job;
  std::vector<PodView> pods;        // the job's own, and others' with a name that it needs
  std::vector<ObjectView> objects;  // likewise, but for Secrets, which nobody here may read
  std::string taken_keys;           // a Secret that was there when ours of that name was to be made, or ""
  std::map<std::string, NodeView> nodes;  // on which its pods stand or were to stand
  ClusterView* cluster = nullptr;         // outlives the decision
  std::optional<ProgressReport> heard;
  std::optional<Rank> silent_rank;  // that the others wait for, and whose server doesn't answer us either
  // Once a decision has asked for them:
  std::optional<std::string> prepare_log;       // last lines, of a prepare pod that has ended
  std::optional<std::string> pod_fault;         // what the API server finds wrong with the pod; ""
  std::optional<SecretAnswer> secret;           // of the job's keys
  std::vector<Refusal> refusals;                // of the last writes
  std::optional<QueuePriority> queue_priority;  // nothing: the job names a class that isn't known
  Moment now{};
};

// An object that isn't a pod, as far as decisions need it.

/// `object`: the API's. Of Secrets and ConfigMaps nothing is kept that a decision doesn't need, keys least of
/// all.
ObjectView read_object(Kind kind, const nlohmann::json& object);

}  // namespace atl::ctl
