// A job's objects: pure functions from a job to the JSON for the API server. Preconditions: the engine
// accepts the job (GnnJob::job), and its template has no faults (template_faults()); for workers and
// launchers, the job has keys (Status::keys).
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/messages.h"
#include "operator/api/pod.h"
#include "operator/api/workload.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"

namespace atl::ctl {

// The keys of one job: a pair with which the launcher logs in to the workers, and one by which it recognises
// them. ed25519, in OpenSSH's own format, the only one that its version 9 accepts for such keys.

struct KeyPair {
  std::string secret;  // openssh-key-v1, the file's text
  std::string open;    // "ssh-ed25519 AAAA…", one line without its end
};

struct LoginKeys {
  KeyPair login, host;
  std::string id;  // random hexadecimal digits, so that nobody can guess the name of the keys' Secret
};

/// New keys each time, from the system's random numbers. Throws Error where there are none.
LoginKeys make_login_keys();

/// The Secret with both key pairs. Workers mount authorized_keys and host_key; the launcher mounts id_login
/// and known_hosts. Immutable.
std::string keys_secret(const GnnJob& job, const LoginKeys& keys);

/// A Secret of that name without keys, to find out whether the name is taken.
std::string empty_secret(const GnnJob& job, const std::string& name);

/// The manifest as job.yaml. Immutable; a job whose manifest changes gets another.
std::string job_config_map(const GnnJob& job);

/// The prepare step's findings, as prepared.json. Immutable, for one manifest.
std::string prepared_config_map(const GnnJob& job, const std::string& prepared);

/// A server of one attempt: where its ranks run.
struct AttemptServer {
  std::string pod, node, address;
  std::vector<Rank> ranks;
};

/// attempt.json: {"attempt": 3, "run": the job's UID, "servers": [{"pod", "node", "address", "ranks"}, …],
/// "parts": [2, 0, 1, 3], "strategy": "{kind: granndis}", "prepared": "e3b0c4…"}. `parts`: the part of the
/// graph that each rank trains (empty: the part of its own number). `strategy`: the one chosen for auto
/// (empty: the manifest's). `prepared`: the checksum that the prepared graph must have (empty: any).
/// Immutable.
std::string attempt_config_map(const GnnJob& job, int attempt, const std::vector<AttemptServer>& servers,
                               const Prepared& prepared);

/// Allows everything within the job; from outside only the metrics port, and only from the operator's and
/// Prometheus' namespaces.
std::string network_policy(const GnnJob& job, const Settings& settings);

/// Partitions the data set if that isn't done yet; its result is the last line of its log.
std::string prepare_pod(const GnnJob& job, const Settings& settings, Moment now);

/// The nodes of workers that the job's queue has assigned, of which the prepare pod may use any, as in
/// kAssignedAnnotation of that pod; "" where there are none.
std::string assigned_list(const GnnJob& job);

/// Runs sshd and the ranks of one server. Gated.
std::string worker_pod(const GnnJob& job, const Settings& settings, int server,
                       const std::vector<Rank>& ranks, int incarnation);

/// Runs mpirun. Gated.
std::string launcher_pod(const GnnJob& job, const Settings& settings, int attempt);

/// Fills in the resources of the job's pods. `gang`: gang_of() the same job. What a LimitRange adds is only
/// known once the pods exist.
void count_pods(const GnnJob& job, const Settings& settings, Gang& gang);

/// The MPIJob of one attempt, which ends when its launcher does, in whatever way. `servers`: the ranks of
/// each.
std::string mpi_job(const GnnJob& job, const Settings& settings, int attempt,
                    const std::vector<std::vector<Rank>>& servers, Moment now);

/// A pod that mpi-operator made for a job's MPIJob, as if we had made it: the job's own, with its server and
/// its ranks. Returns any other pod unchanged.
PodView adopted(PodView pod);

/// Why the MPIJob has failed, in mpi-operator's words; "" where it hasn't. `object`: the API's JSON.
std::string mpi_job_failure(const nlohmann::json& object);

/// Why the job can't have an MPIJob, one line per reason.
std::vector<std::string> mpi_job_faults(const Job& job, const Settings& settings);

/// What a job's placement asks of the topology of its workers' nodes. Where it names no domain, nothing: a
/// request without constraints would still be one, which Kueue refuses where a queue's flavors have no
/// Topology; and where all of them have one, Kueue assigns nodes unasked.
TopologyRequest topology_request(const Job& job);

/// A Workload with two sets of pods: the launcher, and the workers, each counted like the largest, as
/// planned. The prepare pod comes before the workers and takes no more than one of them. `servers`: the ranks
/// of each. `asks`: the workers; then the launcher, which may be anywhere, asks for a node as well, because
/// Kueue gives pods without a request no flavor that has a Topology.
std::string workload(const GnnJob& job, const Settings& settings,
                     const std::vector<std::vector<Rank>>& servers, const QueuePriority& priority,
                     const TopologyRequest& asks = {});

// What asks an autoscaler for nodes. An autoscaler adds nodes for pods that find none, or for such as a
// CapacityBuffer describes. They ask of a node what the gang's own pods will.

/// The room of one pod of a gang.
struct WantedRoom {
  std::string role;                  // kWorkerRole | kLauncherRole: whose selectors and tolerations it has
  Resources requests;                // with everything that admission added to the gang's pods
  std::vector<NodeTerms> reach{};    // where volumes can be used: one term of each must hold
  std::set<std::string> excluded{};  // nodes that failed before
  std::string together{};            // a node label of which one domain must hold all; "": any
  bool is_together_required = true;  // false: one domain should
};

/// A pod that holds such room until somebody needs it, and does nothing. Not gated, and pinned nowhere.
std::string placeholder_pod(const GnnJob& job, const Settings& settings, const WantedRoom& room,
                            const std::string& name);
/// The PodTemplate of the same room.
std::string room_template(const GnnJob& job, const Settings& settings, const WantedRoom& room,
                          const std::string& name);
/// A CapacityBuffer of so many pods of the PodTemplate that has the same name.
std::string capacity_buffer(const GnnJob& job, const std::string& name, std::size_t pods);

/// A JSON patch that enters these conditions in the Workload's status, and with `releases` gives the reserved
/// quota back. It fails where the Workload has changed since it was read.
std::string conditions_patch(const Meta& meta, const Workload& workload,
                             const std::vector<Condition>& conditions, bool releases = false);

// The two changes of a gated pod: it is pinned to a node, and its gate is removed. JSON patches that fail
// where the pod isn't the one that was seen.

/// Lets the pod run on `node` alone; the gate stays.
std::string pin_patch(const PodView& pod, const std::string& node);

/// Removes the gate, and records when.
std::string release_patch(const PodView& pod, Moment now);

/// Both in one, for a worker. Leaves a pinned pod's node as it is.
std::string pin_and_release_patch(const PodView& pod, const std::string& node, Moment now);

/// The node that such a patch pins its pod to, or "".
std::string pinned_by(const std::string& patch);

/// The JSON of a gated pod that doesn't exist yet, as its pin leaves it.
std::string born_pinned(const std::string& pod, const std::string& node);

/// The same without the gate.
std::string born_released(const std::string& pod, const std::string& node, Moment now);

/// Whether the pod has our gate.
bool is_gated(const PodView& pod);

}  // namespace atl::ctl
