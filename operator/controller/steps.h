// The steps of a decision. Each one writes what there is to say about one aspect of the job, adds what is to
// be done, and returns whether later steps may follow. decide.cc has their order.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "operator/controller/reconcile.h"
#include "operator/objects/names.h"

namespace atl::ctl {

enum class Next { kContinue, kDone };  // kDone: later steps are skipped for now

inline Next done_if(bool is_done) {
  return is_done ? Next::kDone : Next::kContinue;
}

/// The reason of Created, while it is false, for a spec that has fields of a later release.
inline constexpr const char* kNewer = "NewerManifest";

/// Whether no operator has taken the job yet.
inline bool is_new(const Reconcile& reconcile) {
  return reconcile.seen.job.status.conditions.empty() || reconcile.reason_against(kCreated) == kNewer;
}

// life.cc: beginning and end of a job
Next leave_what_is_deleted(Reconcile& reconcile);
Next clean_up(Reconcile& reconcile);
Next complete(Reconcile& reconcile);
Next refuse_unfit(Reconcile& reconcile);
Next fail_past_deadline(Reconcile& reconcile);

// queue_nodes.cc: asks which flavors the job's queue has, where a request for nodes depends on that
Next ask_of_queue(Reconcile& reconcile);

// queue.cc
Next resume(Reconcile& reconcile);
Next suspend(Reconcile& reconcile);
/// Deletes all pods but placeholders, which take nobody's room and are taken back apart
/// (end_needless_request()). Returns whether there are any.
bool dismiss_all(Reconcile& reconcile);

// restart.cc: an attempt that is over
Next restart_lost_attempt(Reconcile& reconcile);
Next restart_failed_worker(Reconcile& reconcile);
Next back_off(Reconcile& reconcile);

// withdraw.cc: pods that were released and don't start, and leftovers
Next end_overdue_start(Reconcile& reconcile);
Next withdraw_unbound(Reconcile& reconcile);
Next remove_leftovers(Reconcile& reconcile);

// scale_up.cc: nodes for a gang that waits for room
/// Takes back what was asked for by a job that doesn't wait any more, or asks no more. Decided after all
/// other steps, and written after what they write: if the API server refuses that, nothing waits for it.
void end_needless_request(Reconcile& reconcile);
/// Asks for nodes where more would make the gang fit. `plan`: that found no places.
void request_nodes(Reconcile& reconcile, const GangPlan& plan);
/// Says that nothing is asked for any more, if something was.
void end_request(Reconcile& reconcile, const std::string& reason, const std::string& message);
/// Takes back what was asked for, between earlier and later writes.
void take_back_request(Reconcile& reconcile);
/// Whether what was refused is only what asks for nodes, which the gang itself can do without.
bool is_of_request(const Refusal& refusal, const Reconcile& reconcile);

// refusals.cc: what the API server refuses; and its word, asked before the first pod is made
Next tell_refusal(Reconcile& reconcile);
/// Says which objects the API server keeps that are to go. Decided after all other steps, also for a job that
/// has ended.
void tell_what_is_kept(Reconcile& reconcile);
Next give_way(Reconcile& reconcile);
Next refuse_malformed(Reconcile& reconcile);

// belongings.cc: what must be there before the pods
Next make_belongings(Reconcile& reconcile);

// prepare.cc
Next prepare_data(Reconcile& reconcile);

// gang_view.cc, placement.cc: pods, and nodes for them
Next choose_pod_size(Reconcile& reconcile);
/// The incarnation of the next worker of a server that has none, all of whose pods are spent: above that of
/// any pod which is leaving or has ended, and above any that an earlier attempt may have used.
int next_incarnation(const Reconcile& reconcile, std::size_t server);
Next make_gang(Reconcile& reconcile);
Next place_gang(Reconcile& reconcile);

// running.cc
Next launch_ranks(Reconcile& reconcile);
Next watch_ranks(Reconcile& reconcile);
/// Takes over reported progress; a moment of silence changes nothing.
void take_progress(Reconcile& reconcile);

/// Deletes the job's MPIJobs except the one of name `kept`. Returns false where there is none to delete. An
/// MPIJob goes before its pods, because it would make them again.
bool dismiss_mpi_jobs(Reconcile& reconcile, const std::string& kept = "");

// A job's place in a queue of Kueue's, its Workload, and what that asks about nodes.

inline std::string queue_of(const Reconcile& reconcile) {
  return reconcile.job().meta.label(kQueueLabel);
}

/// The object that has the Workload's name, whoever made it; null where there is none.
inline const ObjectView* place_of(const Reconcile& reconcile) {
  return reconcile.find(Kind::kWorkload, workload_name(reconcile.name()));
}

inline const ObjectView* own_place(const Reconcile& reconcile) {
  const ObjectView* place = place_of(reconcile);
  return place && is_own(place->meta, reconcile.seen) ? place : nullptr;
}

/// Whether the present attempt's ranks may run. Such an attempt is left to end where it is.
inline bool runs(const Reconcile& reconcile) {
  return reconcile.gang().is_launched && !reconcile.holds(kSuspended);
}

// queue_nodes.cc
/// What the job asks of the topology of its nodes in the queue that it is in; nothing: that isn't known now.
std::optional<TopologyRequest> request_of(const Reconcile& reconcile);
/// Why Kueue takes no such request, for a message; "": it does.
std::string fault_of_request(const Reconcile& reconcile);
/// Whether the Workload has to be made again because of its request.
bool is_request_old(const Workload& workload, const Reconcile& reconcile);

// queue.cc
/// Whether an object is a Workload of ours that no longer says what the job needs.
bool is_old_place(const ObjectView& object, const Reconcile& reconcile);

/// Tells Kueue of the job's progress: started, evicted, ended.
void tell_queue(Reconcile& reconcile);

/// Deletes a pod, unless it is already leaving. A pod that hangs on a node which doesn't answer, past its
/// grace, is removed from the API by force: the attempt's number fences whatever still runs there.
void dismiss(Reconcile& reconcile, const PodView& pod, std::optional<int> grace = {});

/// Reasons against Placed that are followed by a wait.
inline constexpr const char* kWithdrawn = "Withdrawn";
inline constexpr const char* kNotBound = "NotBound";

/// Says that the whole gang is withdrawn, and deletes its released pods.
void withdraw(Reconcile& reconcile, const std::string& message);

/// The reason against Suspended while the pods of a job go that is to be suspended.
inline constexpr const char* kSuspending = "Suspending";

struct Incident {
  std::string reason;  // OOMKilled, Signal, Exit, NodeLost, …
  Culprit culprit;
  std::string message;  // sentences
};

/// mpirun lost a server that nothing else reports as gone.
inline constexpr const char* kLost = "Lost";

/// Whether the end wasn't the job's doing: then it counts against maxDisruptions, not against backoffLimit.
bool is_disruption(const std::string& reason);

/// Whether the restarts already include this pod's end.
bool is_counted(const Status& status, const PodView& pod);

/// The incident of a worker's end.
Incident worker_incident(const PodView& pod, const Reconcile& reconcile);

/// The end of the present attempt, from the traces of its launcher and its workers; nothing while it goes on.
std::optional<Incident> incident_of(const Reconcile& reconcile);

/// Records and counts the incident, and moves on to the next attempt, or ends the job where that was the
/// last.
void restart(Reconcile& reconcile, const Incident& incident);

/// Ends the job for good.
void fail_job(Reconcile& reconcile, const std::string& reason, const std::string& message);

}  // namespace atl::ctl
