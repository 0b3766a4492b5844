// The steps of a decision. Each sees to one thing: it says what there is to say of the job's state, adds what
// is to be done, and returns whether later steps may follow. Their order is decide.cc's.
#pragma once

#include <optional>
#include <string>

#include "operator/controller/reconcile.h"

namespace atl::ctl {

enum class Next { kContinue, kDone };  // kDone: that is all for now

inline Next done_if(bool is_done) {
  return is_done ? Next::kDone : Next::kContinue;
}

// life.cc: beginning and end of a job
Next leave_what_is_deleted(Reconcile& reconcile);
Next clean_up(Reconcile& reconcile);
Next complete(Reconcile& reconcile);
Next refuse_unfit(Reconcile& reconcile);
Next fail_past_deadline(Reconcile& reconcile);

// queue.cc
Next resume(Reconcile& reconcile);
Next suspend(Reconcile& reconcile);

// restart.cc: an attempt that is over
Next restart_lost_attempt(Reconcile& reconcile);
Next restart_failed_worker(Reconcile& reconcile);
Next back_off(Reconcile& reconcile);

// start.cc: pods that were released and don't start
Next end_overdue_start(Reconcile& reconcile);
Next withdraw_unbound(Reconcile& reconcile);

// withdraw.cc
Next remove_leftovers(Reconcile& reconcile);

// refusals.cc: what the API server doesn't take, asked before the first pod is made
Next tell_refusal(Reconcile& reconcile);
Next give_way(Reconcile& reconcile);
Next refuse_malformed(Reconcile& reconcile);

// belongings.cc: what must be there before the pods
void keep_image(Reconcile& reconcile);
Next make_belongings(Reconcile& reconcile);

// prepare.cc
Next prepare_data(Reconcile& reconcile);

// gang_view.cc, placement.cc: pods, and nodes for them
Next make_gang(Reconcile& reconcile);
Next place_gang(Reconcile& reconcile);

// running.cc
Next launch_ranks(Reconcile& reconcile);
Next watch_ranks(Reconcile& reconcile);

/// Sees to it that there is the present attempt's MPIJob, and says so where nobody makes pods of it.
void have_pods_made(Reconcile& reconcile);

/// Takes the job's MPIJobs away, but for one of the name `kept`. False where there is none. It goes before
/// its pods, or they would be made anew.
bool dismiss_mpi_jobs(Reconcile& reconcile, const std::string& kept = "");

/// Why a job may have no pods, and what has some must give them back.
struct Hold {
  std::string reason, message;
};
std::optional<Hold> held_by_queue(const Reconcile& reconcile);

/// Sees to a held job's Workload, once it has no pods: there is one that says what the job needs now, or none
/// where the job isn't to start (`wants_place`), and what was reserved for an evicted one is given back.
void keep_place(Reconcile& reconcile, bool wants_place);

/// Whether an object is a Workload of ours that says no longer what the job needs.
bool is_old_place(const ObjectView& object, const Reconcile& reconcile);

/// Tells Kueue of what has become of the job.
void tell_queue(Reconcile& reconcile);

/// Deletes a pod, unless it is going already. One that hangs on a node which doesn't answer, past its grace,
/// is taken out of the API by force: what still runs there is fenced by the attempt's number.
void dismiss(Reconcile& reconcile, const PodView& pod, std::optional<int> grace = {});

/// Why there is no placement, of the kinds that are followed by a wait.
inline constexpr const char* kWithdrawn = "Withdrawn";
inline constexpr const char* kNotBound = "NotBound";

/// Says that the plan didn't hold, for one of these two reasons. Each time since the job ran last is counted,
/// and the wait after it is longer.
void give_up_plan(Reconcile& reconcile, const char* reason, const std::string& message);

/// Says that the whole gang is withdrawn, and takes away what has been released of it.
void withdraw(Reconcile& reconcile, const std::string& message);

/// Goes on with that, where it was broken off.
void dismiss_withdrawn(Reconcile& reconcile);

struct Incident {
  std::string reason;  // OOMKilled, Signal, Exit, NodeLost, …
  Culprit culprit;
  std::string message;  // sentences
};

/// mpirun lost a server of which nobody else has said yet that it is gone.
inline constexpr const char* kLost = "Lost";

/// Nothing that the job did: it counts against maxDisruptions, not against backoffLimit.
bool is_disruption(const std::string& reason);

/// Whether this pod's end is among the restarts already.
bool is_counted(const Status& status, const PodView& pod);

/// A worker's end.
Incident worker_incident(const PodView& pod, const Reconcile& reconcile);

/// The end of the present attempt, from what its launcher and its workers left behind; nothing while it goes
/// on.
std::optional<Incident> incident_of(const Reconcile& reconcile);

/// Enters it, counts it, and moves on to the next attempt, or ends the job where that was the last.
void restart(Reconcile& reconcile, const Incident& incident);

/// Ends the job for good.
void fail_job(Reconcile& reconcile, const std::string& reason, const std::string& message);

}  // namespace atl::ctl
