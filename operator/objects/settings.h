// What the operator's own configuration says about the objects that it makes.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "operator/plan/resources.h"

namespace atl::ctl {

struct Settings {
  std::string image;                         // of the engine, where a job names none
  std::string cuda_image;                    // the same of jobs with GPUs; empty: as without
  std::string gpu_resource = kGpuResource;   // what kubelets call a GPU
  std::map<std::string, std::string> nccl;   // NCCL's variables, of workers with GPUs
  std::vector<std::string> architectures;    // that the engine's images are built for; none: any node will do
  std::string pull_policy = "IfNotPresent";  // of the engine's images
  std::string operator_space = "atoll-system";  // namespace from which the operator asks pods for progress
  std::string scrape_space = "monitoring";      // namespace from which Prometheus asks them for metrics
  int toleration_seconds = 30;                  // a node may be gone so long before its pods are replaced
  int grace_seconds = 120;                      // from SIGTERM to SIGKILL: long enough for a checkpoint
  std::int64_t shared_memory = 64 << 20;        // bytes of /dev/shm for each rank of a pod
  bool mpi_jobs = false;                        // mpi-operator runs here: launcher: mpijob is allowed
  bool kueue = false;                           // Kueue runs here: jobs may name a queue
  std::set<std::string> allowed;                // that is_allowable() (template.h), in jobs' pods
  std::int64_t fs_group = 10001;                // group of the mounted keys, and of volumes that take one
};

}  // namespace atl::ctl
