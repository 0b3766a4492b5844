// Jobs that queue for quota: the label kueue.x-k8s.io/queue-name. Such a job has a Workload of its own and is held, as if its
// user had suspended it, until Kueue has admitted that, and again from when Kueue evicts it. What Kueue can't see is
// told: that all ranks run, that the pods of an evicted job are gone, that the job has ended.
#pragma once

#include <optional>
#include <string>

#include "operator/controller/reconcile.h"

namespace atl::ctl {

/// Why a job may have no pods, and what has some must give them back.
struct Hold {
  std::string reason, message;
};
std::optional<Hold> held_by_queue(const Reconcile& reconcile);

/// Sees to a held job's Workload, once it has no pods: there is one that says what the job needs now, or none where the job
/// isn't to start (`wants_place`), and what was reserved for an evicted one is given back.
void keep_place(Reconcile& reconcile, bool wants_place);

/// Whether an object is a Workload of ours that says no longer what the job needs.
bool is_old_place(const ObjectView& object, const Reconcile& reconcile);

/// Tells Kueue of what has become of the job.
void tell_queue(Reconcile& reconcile);

}  // namespace atl::ctl
