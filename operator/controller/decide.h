// What to do about a job: a pure function. It is called whenever something of the job has changed, or at the
// time that the last decision asked for. It may be called at any other time too: a second call does no harm.
//
// The operator may die before, within or after any step, because the status is written before anything is
// done that can't be read from the pods:
//   podSize      is written before anything is made for pods of that size
//   attempt      grows before the objects of the last attempt are deleted; the next operator finds older
//         launchers and MPIJobs as leftovers
//   failures, restarts   are written together with the attempt, so that its end is counted once
//   Placed, with its nodes   is written before the first pod is released; a release that was cut short is
//         continued
//   Placed false, Withdrawn, withdrawals   are written before pods are withdrawn; the pods that remain are
//         leftovers
//   NodesRequested   becomes true before anything asks for nodes, and false before the request is taken
//         back, so that the next operator finishes either
//   Suspended    becomes true after the gang's last pod is gone, and before an evicted job's quota is given
//         back
//   Succeeded, Failed   become true before anything is cleaned up; only the clean-up happens afterwards
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/controller/observed.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

// What to do about a job, and in which order.

struct Write {
  enum class Verb { kCreate, kPatch, kDelete };
  Verb verb = Verb::kCreate;
  Kind kind = Kind::kPod;
  std::string name;
  std::string body;          // the object, or the JSON patch
  std::string uid;           // kDelete: only the object with this UID
  std::optional<int> grace;  // kDelete: seconds; none: the object's own
};

struct Event {
  bool is_warning = false;
  std::string reason, message;
};

/// Questions that only the API server can answer, and on whose answers the decision depends.
struct Wants {
  bool prepare_log = false;
  std::string pod_fault;  // JSON of the pod for a trial; "": none
  std::string secret;     // name of the Secret to look for; "": none
  std::string queue;      // name of the LocalQueue whose flavors are to be listed; "": none
  bool is_any() const { return prepare_log || !pod_fault.empty() || !secret.empty() || !queue.empty(); }
};

struct Decision {
  /// Written before anything else is done. If that write fails, nothing else is done, because an action
  /// without a record in the status could be forgotten.
  std::optional<Status> status;
  /// Writes of one stage may go out at once; the next stage begins when all of them have succeeded.
  std::vector<std::vector<Write>> stages;
  std::vector<Event> events;  // sent once the status is written
  std::optional<Moment> requeue_at;
  /// If not empty, the decision is made again with the answers in Observed. Without answers it stands.
  Wants wants;

  bool is_empty() const { return !status && stages.empty() && !wants.is_any(); }
};

Decision decide(const Observed& seen, const Settings& settings);

/// "status Waiting, NoRoom; create Pod cora-0-0; delete Pod cora-1-0"
std::string text_of(const Decision& decision);

/// Whether `other` comes before `job`, and is refused objects in the same namespace. It comes before if it is
/// older, or equally old with a name that sorts first. While `other` holds gated pods, `job` gives way to it.
bool is_refused_before(const GnnJob& other, const GnnJob& job);

}  // namespace atl::ctl
