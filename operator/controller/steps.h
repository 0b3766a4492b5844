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
/// Takes back the request for nodes if the job no longer waits for room, or no longer asks for nodes. This is
/// decided after all other steps, and written last, so that no other write waits if the API server refuses
/// it.
void end_needless_request(Reconcile& reconcile);
/// Asks for nodes if more nodes would make the gang fit. `plan` is the plan that found no places.
void request_nodes(Reconcile& reconcile, const GangPlan& plan);
/// Says that no nodes are asked for any more, if some were.
void end_request(Reconcile& reconcile, const std::string& reason, const std::string& message);
/// Deletes the objects that ask for nodes, in a stage of their own between earlier and later writes.
void take_back_request(Reconcile& reconcile);
/// Whether the refused object only asks for nodes. The gang can do without such an object.
bool is_of_request(const Refusal& refusal, const Reconcile& reconcile);

// refusals.cc: what the API server refuses, and its verdict on a trial pod before the first pod is made
Next tell_refusal(Reconcile& reconcile);
/// Says which objects are to be deleted but are kept, because the API server refuses to delete them. This is
/// decided after all other steps, also for a job that has ended.
void tell_what_is_kept(Reconcile& reconcile);
Next give_way(Reconcile& reconcile);
Next refuse_malformed(Reconcile& reconcile);

// belongings.cc: what must be there before the pods
Next make_belongings(Reconcile& reconcile);

// prepare.cc
Next prepare_data(Reconcile& reconcile);

// gang_view.cc, placement.cc: pods, and nodes for them
Next choose_pod_size(Reconcile& reconcile);
/// The incarnation of the next worker of a server that has none. It is above that of any earlier pod of the
/// server which still exists, and above any that an earlier attempt may have used.
int next_incarnation(const Reconcile& reconcile, std::size_t server);
Next make_gang(Reconcile& reconcile);
Next place_gang(Reconcile& reconcile);

// running.cc
Next launch_ranks(Reconcile& reconcile);
Next watch_ranks(Reconcile& reconcile);
/// Copies the reported progress to the status. Without a report nothing changes.
void take_progress(Reconcile& reconcile);

/// Deletes the job's MPIJobs except the one named `kept`. Returns false if there is none to delete. An MPIJob
/// is deleted before its pods, because it would make them again.
bool dismiss_mpi_jobs(Reconcile& reconcile, const std::string& kept = "");

// A job's Workload, which is its place in one of Kueue's queues, and its request for a topology of nodes.

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

/// Whether the present attempt's ranks may run. Such an attempt is left to end on the nodes that it has.
inline bool runs(const Reconcile& reconcile) {
  return reconcile.gang().is_launched && !reconcile.holds(kSuspended);
}

// queue_nodes.cc
/// The topology that the job requests of its nodes in its present queue; nothing while that isn't known.
std::optional<TopologyRequest> request_of(const Reconcile& reconcile);
/// Why Kueue rejects the job's request, for a message; "" where Kueue accepts it.
std::string fault_of_request(const Reconcile& reconcile);
/// Whether the Workload has to be made again because of its request.
bool is_request_old(const Workload& workload, const Reconcile& reconcile);

// queue.cc
/// Whether the object is the job's Workload, but no longer says what the job needs.
bool is_old_place(const ObjectView& object, const Reconcile& reconcile);

/// Tells Kueue of the job's progress: started, evicted, ended.
void tell_queue(Reconcile& reconcile);

/// Deletes a pod, unless it is already terminating. A pod that is still there after its grace, on a node
/// which doesn't answer, is removed from the API by force. That is safe: ranks which still run there belong
/// to an old attempt, and the attempt's number fences them off.
void dismiss(Reconcile& reconcile, const PodView& pod, std::optional<int> grace = {});

/// Reasons of Placed, while it is false, after which the job waits before it plans again.
inline constexpr const char* kWithdrawn = "Withdrawn";
inline constexpr const char* kNotBound = "NotBound";

/// Says that the whole gang is withdrawn, and deletes its released pods.
void withdraw(Reconcile& reconcile, const std::string& message);

/// The reason of Suspended while the pods of a job that is to be suspended are deleted.
inline constexpr const char* kSuspending = "Suspending";

struct Incident {
  std::string reason;  // OOMKilled, Signal, Exit, NodeLost, …
  Culprit culprit;
  std::string message;  // sentences
};

/// mpirun lost contact with a server, and nothing else reports that the server is gone.
inline constexpr const char* kLost = "Lost";

/// Whether the end wasn't the job's fault. It then counts against maxDisruptions, not against backoffLimit.
bool is_disruption(const std::string& reason);

/// Whether the restarts already include this pod's end.
bool is_counted(const Status& status, const PodView& pod);

/// What the end of a worker's pod says about the end of the attempt.
Incident worker_incident(const PodView& pod, const Reconcile& reconcile);

/// Why the present attempt ended, as its launcher and its workers show; nothing while it goes on.
std::optional<Incident> incident_of(const Reconcile& reconcile);

/// Records and counts the incident, then begins the next attempt, or ends the job if none is allowed.
void restart(Reconcile& reconcile, const Incident& incident);

/// Ends the job for good.
void fail_job(Reconcile& reconcile, const std::string& reason, const std::string& message);

}  // namespace atl::ctl
