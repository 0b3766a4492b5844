// A job's objects, made by pure functions from a job to the JSON for the API server. Preconditions: the
// engine accepts the job (GnnJob::job), and its template has no faults (template_faults()). For workers and
// launchers, the job must also have keys (Status::keys).
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

// The keys of one job. With one pair the launcher logs in to the workers, and by the other it recognises
// them. They are ed25519 keys in OpenSSH's own format, the only format that OpenSSH 9 accepts for such keys.

struct KeyPair {
  std::string secret;  // the text of the key file, openssh-key-v1
  std::string open;    // "ssh-ed25519 AAAA…", one line without a line end
};

struct LoginKeys {
  KeyPair login, host;
  std::string id;  // random hexadecimal digits, so that nobody can guess the name of the keys' Secret
};

/// Makes new keys from the system's random numbers. Throws Error if the system has none.
LoginKeys make_login_keys();

/// The Secret with both key pairs. Workers mount authorized_keys and host_key; the launcher mounts id_login
/// and known_hosts. Immutable.
std::string keys_secret(const GnnJob& job, const LoginKeys& keys);

/// A Secret of that name without keys. A dry run with it shows whether the name is taken.
std::string empty_secret(const GnnJob& job, const std::string& name);

/// The manifest as job.yaml. Immutable: a job whose manifest changes gets another ConfigMap.
std::string job_config_map(const GnnJob& job);

/// The prepare step's findings, as prepared.json. Immutable: each manifest has its own ConfigMap.
std::string prepared_config_map(const GnnJob& job, const std::string& prepared);

/// A server of one attempt: where its ranks run.
struct AttemptServer {
  std::string pod, node, address;
  std::vector<Rank> ranks;
};

/// attempt.json: {"attempt": 3, "run": the job's UID, "servers": [{"pod", "node", "address", "ranks"}, …],
/// "parts": [2, 0, 1, 3], "strategy": "{kind: granndis}", "prepared": "e3b0c4…"}. `parts` has each rank's
/// part of the graph (absent: the part with the rank's number). `strategy` is the one chosen for auto
/// (absent: the manifest's). `prepared` is the checksum that the prepared graph must have (absent: any).
/// Immutable.
std::string attempt_config_map(const GnnJob& job, int attempt, const std::vector<AttemptServer>& servers,
                               const Prepared& prepared);

/// Allows all traffic within the job. From outside, it allows only traffic to the metrics port, from the
/// operator's and Prometheus' namespaces.
std::string network_policy(const GnnJob& job, const Settings& settings);

/// The prepare pod. It partitions the data set if that isn't done yet, and the last line of its log is the
/// result.
std::string prepare_pod(const GnnJob& job, const Settings& settings, Moment now);

/// The worker nodes that the job's queue has assigned, in the form of kAssignedAnnotation; the prepare pod
/// may use any of them. "" if there are none.
std::string assigned_list(const GnnJob& job);

/// A worker's pod, which runs sshd and the ranks of one server. It is gated.
std::string worker_pod(const GnnJob& job, const Settings& settings, int server,
                       const std::vector<Rank>& ranks, int incarnation);

/// The launcher's pod, which runs mpirun. It is gated.
std::string launcher_pod(const GnnJob& job, const Settings& settings, int attempt);

/// Fills in the resources of the job's pods. `gang` is gang_of() the same job. What a LimitRange adds is
/// known only once the pods exist.
void count_pods(const GnnJob& job, const Settings& settings, Gang& gang);

/// The MPIJob of one attempt. It ends when its launcher ends, in whatever way. `servers` has the ranks of
/// each server.
std::string mpi_job(const GnnJob& job, const Settings& settings, int attempt,
                    const std::vector<std::vector<Rank>>& servers, Moment now);

/// Turns a pod that mpi-operator made for a job's MPIJob into the view of a pod that we would have made:
/// owned by the job, with its server and its ranks. Returns any other pod unchanged.
PodView adopted(PodView pod);

/// Why the MPIJob has failed, in mpi-operator's words; "" if it hasn't. `object` is the API's JSON.
std::string mpi_job_failure(const nlohmann::json& object);

/// Why the job can't have an MPIJob, one line per reason.
std::vector<std::string> mpi_job_faults(const Job& job, const Settings& settings);

/// The topology that a job's placement requests for its workers' nodes. Without placement.within there is no
/// request. An unconstrained request would be refused by Kueue if a queue's flavors have no Topology. If all
/// of them have one, Kueue assigns nodes unasked.
TopologyRequest topology_request(const Job& job);

/// A Workload with two sets of pods: the launcher, and the workers. Each worker is counted like the largest,
/// as planned. The prepare pod isn't counted: it runs before the workers, and takes no more than one of them.
/// `servers` has the ranks of each server. `asks` is the workers' request. If it asks for anything, the
/// launcher asks for any node of a topology, because Kueue gives pods without a request no flavor that has a
/// Topology.
std::string workload(const GnnJob& job, const Settings& settings,
                     const std::vector<std::vector<Rank>>& servers, const QueuePriority& priority,
                     const TopologyRequest& asks = {});

// Objects that ask an autoscaler for nodes. An autoscaler adds nodes for pods that find none, or for the pods
// that a CapacityBuffer describes. Both demand of a node what the gang's own pods will demand.

/// The room of one pod of a gang, for which an autoscaler is asked.
struct WantedRoom {
  std::string role;                  // kWorkerRole | kLauncherRole: gives selectors and tolerations
  Resources requests;                // includes what admission added to the gang's pods
  std::vector<NodeTerms> reach{};    // where volumes can be used: one term of each must hold
  std::set<std::string> excluded{};  // nodes that failed before
  std::string together{};            // node label of which one domain must hold all; "": none
  bool is_together_required = true;  // false: one domain is preferred
};

/// A placeholder: a pod that does nothing, and holds room until somebody needs it. Not gated, and not pinned.
std::string placeholder_pod(const GnnJob& job, const Settings& settings, const WantedRoom& room,
                            const std::string& name);
/// A PodTemplate for the same room.
std::string room_template(const GnnJob& job, const Settings& settings, const WantedRoom& room,
                          const std::string& name);
/// A CapacityBuffer for `pods` pods of the PodTemplate that has the same name.
std::string capacity_buffer(const GnnJob& job, const std::string& name, std::size_t pods);

/// A JSON patch that writes these conditions to the Workload's status. With `releases` it also gives the
/// reserved quota back. It fails if the Workload has changed since it was read.
std::string conditions_patch(const Meta& meta, const Workload& workload,
                             const std::vector<Condition>& conditions, bool releases = false);

// The two changes of a gated pod: it is pinned to a node, and its gate is removed. The JSON patches fail if
// the pod isn't the one that was seen.

/// Lets the pod run on `node` alone; the gate stays.
std::string pin_patch(const PodView& pod, const std::string& node);

/// Removes the gate, and records the time.
std::string release_patch(const PodView& pod, Moment now);

/// Does both at once, for a worker. A pod that is pinned already keeps its node.
std::string pin_and_release_patch(const PodView& pod, const std::string& node, Moment now);

/// The node that such a patch pins its pod to, or "".
std::string pinned_by(const std::string& patch);

/// The JSON of a pod that doesn't exist yet, as if it had been pinned. It stays gated.
std::string born_pinned(const std::string& pod, const std::string& node);

/// The same, but also without the gate.
std::string born_released(const std::string& pod, const std::string& node, Moment now);

/// Whether the pod has our gate.
bool is_gated(const PodView& pod);

}  // namespace atl::ctl
