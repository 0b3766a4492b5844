// The operator's settings for the objects that it makes, and the choice of their pods' image.
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

/// Which kind of objects asks an autoscaler for nodes when a gang waits for room.
enum class ScaleUp { kNone, kPlaceholders, kCapacityBuffers };

struct Settings {
  std::string image;                         // the engine's image for jobs that name none
  std::string cuda_image;                    // the same for jobs with GPUs; "": `image`
  std::string gpu_resource = kGpuResource;   // kubelets' name of a GPU
  int oldest_driver = 0;                     // least major version of NVIDIA's driver for cuda_image; 0: any
  std::map<std::string, std::string> nccl;   // NCCL's variables, set in workers with GPUs
  std::vector<std::string> architectures;    // platforms of the engine's images; empty: any node will do
  std::string pull_policy = "IfNotPresent";  // for the engine's images
  std::vector<std::string> pull_secrets;     // Secrets for a registry, in each namespace that has jobs
  std::string operator_space = "atoll-system";  // namespace from which the operator asks pods for progress
  std::string scrape_space = "monitoring";      // namespace from which Prometheus asks them for metrics
  int toleration_seconds = 30;                  // how long a node may be gone before its pods are replaced
  int grace_seconds = 120;                      // from SIGTERM to SIGKILL: long enough for a checkpoint
  std::int64_t shared_memory = 64 << 20;        // bytes of /dev/shm for each rank of a pod
  std::int64_t cuda_shared_memory = 1 << 30;    // the same for ranks with a GPU, for NCCL's buffers
  bool mpi_jobs = false;                        // mpi-operator runs here: launcher: mpijob is allowed
  bool kueue = false;                           // Kueue runs here: jobs may name a queue
  ScaleUp scale_up = ScaleUp::kNone;
  std::string placeholder_image;  // for pods that do nothing
  std::string placeholder_class;  // placeholders' PriorityClass; its value is negative
  bool clears_buffers = false;    // CapacityBuffers that jobs no longer use may exist
  int scale_up_seconds = 900;     // time for the next node to come; with CapacityBuffers, for all
  std::set<std::string> allowed;  // features allowed in jobs' pods: see is_allowable() in template.h
  std::int64_t fs_group = 10001;  // group of the mounted keys, and of volumes that support one
};

// Which engine image a job's pods run. All of them run the same one, because ranks of two builds refuse each
// other. The image is chosen when the first pod is made, and kept even if the operator's default changes.
// Once a pod reports the image's digest, the job also keeps it if the tag is moved.

/// The recorded image, or else the manifest's, or else the operator's, which has a separate one for jobs with
/// GPUs. Precondition: the engine accepts the job.
std::string engine_image(const GnnJob& job, const Settings& settings);

/// The image to record: engine_image(), or the one that the job's own pods among `pods` run. It is named by
/// its digest if a pod reports one.
std::string image_to_record(const GnnJob& job, const Settings& settings, const std::vector<PodView>& pods);

}  // namespace atl::ctl
