// What a job's objects look like: pure functions from a job to the JSON that the API server is given. Jobs
// here are ones that the engine takes (GnnJob::job) and whose template has no faults (template_faults());
// those whose workers or launcher are made have keys (Status::keys).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/messages.h"
#include "operator/api/pod.h"
#include "operator/api/workload.h"
#include "operator/objects/login_keys.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"

namespace atl::ctl {

/// The engine that the job's pods run: the one recorded, or else its manifest's, or else the operator's,
/// which has one for jobs with GPUs.
std::string engine_image(const GnnJob& job, const Settings& settings);

/// Both key pairs. Workers mount authorized_keys and host_key; the launcher id_login and known_hosts.
/// Immutable.
std::string keys_secret(const GnnJob& job, const LoginKeys& keys);

/// One of that name without keys, to find out whether there is one.
std::string empty_secret(const GnnJob& job, const std::string& name);

/// The manifest as job.yaml. Immutable; a job whose manifest changes gets another.
std::string job_config_map(const GnnJob& job);

/// What the prepare step found out, as prepared.json. Immutable, of one manifest.
std::string prepared_config_map(const GnnJob& job, const std::string& prepared);

/// Where one attempt's ranks run.
struct AttemptServer {
  std::string pod, node, address;
  std::vector<Rank> ranks;
};

/// attempt.json: {"attempt": 3, "run": the job's UID, "servers": [{"pod", "node", "address", "ranks"}, …],
/// "parts": [2, 0, 1, 3], "strategy": "{kind: granndis}", "prepared": "e3b0c4…"}: the part of the graph that
/// each rank trains (none: that of its own number), what strategy auto stands for (none: the manifest's), and
/// the checksum that the prepared graph must have (none: whatever it is). Immutable.
std::string attempt_config_map(const GnnJob& job, int attempt, const std::vector<AttemptServer>& servers,
                               const Prepared& prepared);

/// Within the job everything; from outside only the metrics port, and only from the operator's and
/// Prometheus' namespaces.
std::string network_policy(const GnnJob& job, const Settings& settings);

/// Partitions the data set where that isn't done yet; its result is the last line of its log.
std::string prepare_pod(const GnnJob& job, const Settings& settings, Moment now);

/// sshd and the ranks of one server. Gated.
std::string worker_pod(const GnnJob& job, const Settings& settings, int server,
                       const std::vector<Rank>& ranks, int incarnation);

/// mpirun. Gated.
std::string launcher_pod(const GnnJob& job, const Settings& settings, int attempt);

/// Fills in what the job's pods ask for. `gang`: gang_of() the same job. What a LimitRange adds is only known
/// once the pods exist.
void count_pods(const GnnJob& job, const Settings& settings, Gang& gang);

/// The MPIJob of one attempt, which ends when its launcher does, in whatever way. `servers`: the ranks of
/// each server.
std::string mpi_job(const GnnJob& job, const Settings& settings, int attempt,
                    const std::vector<std::vector<Rank>>& servers, Moment now);

/// A pod made of such a template as if we had made it: the job's own, with its server and its ranks. Any
/// other as it is.
PodView adopted(PodView pod);

/// Why it has failed, in mpi-operator's words; "" where it hasn't. `object`: the API's.
std::string mpi_job_failure(const nlohmann::json& object);

/// Why there can't be one, one line for each reason.
std::vector<std::string> mpi_job_faults(const Job& job, const Settings& settings);

/// Two sets of pods: the launcher, and the workers, each counted like the largest, as they are planned. The
/// prepare pod comes before the workers and takes no more than one of them. `servers`: the ranks of each.
std::string workload(const GnnJob& job, const Settings& settings,
                     const std::vector<std::vector<Rank>>& servers, const QueuePriority& priority);

/// A JSON patch of its status that enters these conditions; `releases`: and gives the reserved quota back. It
/// fails where the Workload has changed since it was read.
std::string conditions_patch(const Meta& meta, const Workload& workload,
                             const std::vector<Condition>& conditions, bool releases = false);

}  // namespace atl::ctl
