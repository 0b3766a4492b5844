// Names, labels and annotations of a job's objects. An operator finds the objects again by them.
#pragma once

#include <string>

#include "base/types.h"

namespace atl::ctl {

inline constexpr const char* kJobLabel = "atoll.dev/job";
inline constexpr const char* kManagedByLabel = "app.kubernetes.io/managed-by";
inline constexpr const char* kManager = "atoll";
inline constexpr const char* kRoleLabel = "atoll.dev/role";  // prepare | worker | launcher | placeholder
inline constexpr const char* kServerLabel = "atoll.dev/server";
inline constexpr const char* kIncarnationLabel = "atoll.dev/incarnation";
inline constexpr const char* kAttemptLabel = "atoll.dev/attempt";  // on launchers, and on an MPIJob's workers
inline constexpr const char* kManifestLabel = "atoll.dev/manifest";          // MadeOf::manifest of a pod
inline constexpr const char* kRanksAnnotation = "atoll.dev/ranks";           // "0,1"
inline constexpr const char* kPinnedAnnotation = "atoll.dev/pinned-to";      // a node's name
inline constexpr const char* kReleasedAnnotation = "atoll.dev/released-at";  // when the gate was removed
// When the prepare pod or an MPIJob was made, by the operator's clock. The API server's clock may differ.
inline constexpr const char* kMadeAnnotation = "atoll.dev/made-at";
inline constexpr const char* kAfterRestartAnnotation =
    "atoll.dev/after-restart";  // last_restart() when it was made
// Pods for which Kueue assigned nodes have the Workload's name and their pod set's name in these.
inline constexpr const char* kPodSetLabel = "kueue.x-k8s.io/podset";
inline constexpr const char* kWorkloadAnnotation = "kueue.x-k8s.io/workload";
inline constexpr const char* kAssignedAnnotation = "atoll.dev/assigned-nodes";  // on the prepare pod: "n3,n4"
inline constexpr const char* kGate = "atoll.dev/placement";

inline constexpr const char* kPrepareRole = "prepare";
inline constexpr const char* kWorkerRole = "worker";
inline constexpr const char* kLauncherRole = "launcher";
inline constexpr const char* kPlaceholderRole = "placeholder";

inline constexpr const char* kEngine = "engine";       // the container that is ours
inline constexpr const char* kManifestVolume = "job";  // in every pod: the job's ConfigMap
inline constexpr int kSshPort = 2222, kMetricsPort = 9400;

/// Stands for the name of a job's Secret in pods that are never made: in a dry run, and in what a queue
/// counts.
inline constexpr const char* kNoKeysYet = "none-yet";

/// `id` is LoginKeys::id.
inline std::string keys_name(const std::string& job, const std::string& id) {
  return job + "-keys-" + id;
}
inline std::string job_map_name(const std::string& job, const std::string& digest) {
  return job + "-job-" + digest;
}
inline std::string prepared_map_name(const std::string& job, const std::string& digest) {
  return job + "-prepared-" + digest;
}
inline std::string attempt_map_name(const std::string& job, int attempt) {
  return job + "-attempt-" + std::to_string(attempt);
}
inline std::string prepare_name(const std::string& job) {
  return job + "-prepare";
}
inline std::string worker_name(const std::string& job, int server, int incarnation) {
  return job + "-" + std::to_string(server) + "-" + std::to_string(incarnation);
}
inline std::string workload_name(const std::string& job) {
  return "gnnjob-" + job;
}
/// The beginning of the names of all objects that ask an autoscaler for nodes for this job.
inline std::string room_prefix(const std::string& job) {
  return job + "-room-";
}
/// The name of one such object. For a placeholder, `part` is the server's number or kLauncherRole. For a
/// CapacityBuffer, it is a number of pods and their role, or "first" if server 0 needs other nodes than the
/// rest.
inline std::string room_name(const std::string& job, const std::string& part) {
  return room_prefix(job) + part;
}
/// The MPIJob of job J and attempt A has workers J-A-worker-0 and so on.
inline std::string mpi_job_name(const std::string& job, int attempt) {
  return job + "-" + std::to_string(attempt);
}
inline std::string launcher_name(const std::string& job, int attempt) {
  return job + "-launcher-" + std::to_string(attempt);
}

}  // namespace atl::ctl
