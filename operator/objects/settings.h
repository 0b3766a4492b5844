// The operator's own configuration of the objects that it makes, and the image of their pods.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/api/pod.h"
#include "operator/plan/resources.h"

namespace atl::ctl {

/// By which objects an autoscaler is asked for nodes, for gangs that wait for room.
enum class ScaleUp { kNone, kPlaceholders, kCapacityBuffers };

struct Settings {
  std::string image;                        // the engine's, where a job names none
  std::string cuda_image;                   // the same for jobs with GPUs; empty: `image`
  std::string gpu_resource = kGpuResource;  // what kubelets call a GPU
  int oldest_driver = 0;  // major version of NVIDIA's driver that cuda_image needs at least; 0: any
  std::map<std::string, std::string> nccl;  // NCCL's variables, for workers with GPUs
  std::vector<std::string> architectures;   // that the engine's images are built for; empty: any node will do
  std::string pull_policy = "IfNotPresent";     // of the engine's images
  std::vector<std::string> pull_secrets;        // Secrets for a registry, in each namespace that has jobs
  std::string operator_space = "atoll-system";  // namespace from which the operator asks pods for progress
  std::string scrape_space = "monitoring";      // namespace from which Prometheus asks them for metrics
  int toleration_seconds = 30;                  // how long a node may be gone before its pods are replaced
  int grace_seconds = 120;                      // from SIGTERM to SIGKILL: long enough for a checkpoint
  std::int64_t shared_memory = 64 << 20;        // bytes of /dev/shm for each rank of a pod
  std::int64_t cuda_shared_memory = 1 << 30;    // the same for ranks with a GPU: NCCL's buffers are there
  bool mpi_jobs = false;                        // mpi-operator runs here: launcher: mpijob is allowed
  bool kueue = false;                           // Kueue runs here: jobs may name a queue
  ScaleUp scale_up = ScaleUp::kNone;
  std::string placeholder_image;  // of pods that do nothing
  std::string placeholder_class;  // their PriorityClass, whose value is negative
  bool clears_buffers = false;    // CapacityBuffers are here by which jobs don't ask any more
  int scale_up_seconds = 900;     // for the next node to come; with CapacityBuffers: for all nodes
  std::set<std::string> allowed;  // features that is_allowable() (template.h) names, in jobs' pods
  std::int64_t fs_group = 10001;  // group of the mounted keys, and of volumes that take one
};

// Which engine image a job's pods run: the same in all of them, because ranks of two builds refuse each
// other. It is chosen when the first pod is made, and kept when the operator's default changes. Once a pod
// reports the image's digest, moving the tag changes nothing either.

/// The recorded one, or else the manifest's, or else the operator's, which has a separate one for jobs with
/// GPUs. Precondition: the engine accepts the job.
std::string engine_image(const GnnJob& job, const Settings& settings);

/// The image to record: engine_image(), or what the job's own among these pods run, by its digest where one
/// reports that.
std::string image_to_record(const GnnJob& job, const Settings& settings, const std::vector<PodView>& pods);

}  // namespace atl::ctl
