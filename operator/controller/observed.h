// Everything that a decision about a job may depend on, as seen at one moment. Nothing else is remembered, so
// an operator that has just started decides like one that has run for a month.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/pod.h"
#include "operator/objects/object_view.h"
#include "operator/objects/objects.h"
#include "operator/plan/gang.h"
#include "operator/plan/snapshot.h"
#include "operator/scale_up/scale_up.h"

namespace atl::ctl {

struct NodeView {
  bool ready = true;
  Moment since{};  // when `ready` last changed; for a missing node, when it was first missed
  std::map<std::string, std::string> labels;
  bool cordoned = false;
  std::vector<Taint> taints{};
  // The node isn't known: it was deleted, or is too new. `ready` is then false.
  bool is_missing = false;
};

/// What the present attempt's servers report. The operator asks every few seconds, or less often where many
/// jobs answer slowly.
struct ProgressReport {
  std::optional<Progress> progress;  // nothing: no server has answered yet
  Moment advanced{};                 // when an epoch last ended, as observed
  Moment answered{};                 // when a server last answered; before that, when one was first asked
  std::optional<std::int64_t> stalled_rank;  // the rank that others wait for, if known
  int missed = 0;                            // questions in a row that no server has answered
};

/// The ranks of a job may be called unheard only after this many unanswered questions in a row. The length of
/// the silence isn't enough, because a job is asked seldom when many jobs answer slowly.
inline constexpr int kMissedToBeUnheard = 3;

/// An object that the API server refused (quota, LimitRange, admission).
struct Refusal {
  std::string object, message;  // "Pod cora-0-0"
};

/// What a decision may look up in the caches, or compute, beside what was observed. If it needs something
/// that only the API server knows, it says so (Decision::wants), and is made again with the answer. There is
/// one exception: a plan asks, while it is made, on which nodes volume claims can be used. Only an errand
/// asks that, and the answer is kept for half a minute (ClaimPlaces).
class ClusterView : public NodeBudget {
 public:
  /// Plans on the cluster as it is now; pinned pods take room there. `pods` are the names of the pods to
  /// place, by server, then the launcher's if it needs a place. A plan that fits reserves their room.
  virtual GangPlan plan(const Gang& gang, const std::vector<std::string>& pods) = 0;
  /// largest_pods() of the cluster as it is now (operator/plan/pod_size.h).
  virtual std::optional<PodSize> largest_pods(const std::vector<Gang>& ways) = 0;
  /// Names of pods on the node that aren't the job's.
  virtual std::vector<std::string> other_pods(const std::string& node) = 0;
  /// Whether an older job is refused pods too and holds some, so that this job has to give way (decide.h).
  virtual bool is_another_first() const = 0;
  virtual LoginKeys new_keys() = 0;
};

/// Whether a Secret exists. The operator may not read Secrets, so nothing else is known of it.
struct SecretAnswer {
  std::optional<bool> is_gone;  // nothing: the server doesn't say
};

/// The ResourceFlavors of the job's queue; none where the operator finds or may read no such queue.
struct QueueAnswer {
  std::optional<std::set<std::string>> flavors;  // nothing: the server doesn't say
  Moment until{};                                // when they are to be asked for again
};

struct Observed {
  GnnJob job;
  std::vector<PodView> pods;              // the job's own, and others that have a name which the job needs
  std::vector<ObjectView> objects;        // likewise; without Secrets, which the operator may not read
  std::string taken_keys;                 // the Secret name of ours that was already taken, or ""
  std::map<std::string, NodeView> nodes;  // nodes on which its pods run, ran or are to run
  ClusterView* cluster = nullptr;         // outlives the decision
  std::optional<ProgressReport> heard;
  std::optional<Rank> silent_rank;  // a rank that others wait for, and whose server is silent
  // Answers to a decision's questions:
  std::optional<std::string> prepare_log;  // last lines, of a prepare pod that has ended
  std::optional<std::string> pod_fault;    // what the API server finds wrong with the pod, or ""
  std::optional<SecretAnswer> secret;      // whether the Secret of the job's keys exists
  std::optional<QueueAnswer> queue;
  std::vector<Refusal> refusals;                // objects of the last writes that couldn't be made or changed
  std::vector<Refusal> undeleted;               // objects of the last writes that couldn't be deleted
  std::optional<QueuePriority> queue_priority;  // nothing: the job names an unknown class
  std::set<std::string> topology_flavors;       // ResourceFlavors of the cluster that name a Topology
  std::optional<Moment> wrote_status;           // when this operator last wrote the status; nothing: never
  std::optional<Moment> made_keys;  // when it made the Secret of the job's status; nothing: it did not
  Moment now{};
};

}  // namespace atl::ctl
