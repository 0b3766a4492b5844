// What to do about a job: a pure function. It is called whenever something of the job changed, or at the time
// for which it asked, and may be called at any other time: deciding twice does nothing twice.
//
// Every step is safe against the operator's death before, within and after it, because the status is written
// before anything is done that can't be read from the pods:
//   podSize      before anything is made for pods of that size
//   attempt      moves on before what belonged to the last one is deleted; older launchers, and MPIJobs, are
//         leftovers then
//   failures, restarts   together with the attempt: what ended it is counted once
//   Placed, with its nodes   before the first pod is released: a release that was broken off is gone on with
//   Placed false, Withdrawn, withdrawals   before pods are withdrawn: what is left of them is a leftover then
//   NodesRequested   before anything asks for nodes; and false before that is taken back: the rest follows
//   Suspended    after the last pod of the gang is gone, and before the quota of an evicted one is given back
//   Succeeded, Failed   before anything is cleaned up; nothing but cleaning up happens afterwards
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

/// Questions that only the API server can answer, and the decision depends on.
struct Wants {
  bool prepare_log = false;
  std::string pod_fault;  // JSON of the pod to try; "": none
  std::string secret;     // name of the Secret to look for; "": none
  std::string queue;      // name of the LocalQueue whose flavors are to be listed; "": none
  bool is_any() const { return prepare_log || !pod_fault.empty() || !secret.empty() || !queue.empty(); }
};

struct Decision {
  /// Written before anything else is done. If that fails nothing is done, because a deed must not be
  /// forgotten.
  std::optional<Status> status;
  /// Writes of one stage may go out at once; the next stage begins when all of them have succeeded.
  std::vector<std::vector<Write>> stages;
  std::vector<Event> events;  // sent once the status is written
  std::optional<Moment> requeue_at;
  /// If not empty, the decision is made again, once Observed has the answers. It stands if they can't be had.
  Wants wants;

  bool is_empty() const { return !status && stages.empty() && !wants.is_any(); }
};

Decision decide(const Observed& seen, const Settings& settings);

/// "status Waiting, NoRoom; create Pod cora-0-0; delete Pod cora-1-0"
std::string text_of(const Decision& decision);

/// Whether `other` is refused objects in the same namespace and comes before `job`, because it is older, or
/// as old and first by name. While `other` holds gated pods, `job` gives way to it.
bool is_refused_before(const GnnJob& other, const GnnJob& job);

}  // namespace atl::ctl
