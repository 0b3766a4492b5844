// Pieces that several of a job's objects have in common. Inside this folder only: what comes out of it is
// text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// Nodes that the engine's image runs on, but where the pod has a node selector of its own for that. Over the
/// template, whose affinity it narrows.
void demand_platform(nlohmann::json& pod, const Settings& settings);

/// An object of the job: its apiVersion, kind and metadata with the labels of all and the job as its owner.
nlohmann::json object_of(const GnnJob& job, const char* api_version, const char* kind,
                         const std::string& name);

/// A pod that meets the restricted Pod Security level and does nothing yet: one container named engine, whose
/// root can't be written, with scratch on /tmp, /run/atoll and /var/lib/extrausers, and the manifest at
/// /etc/atoll/job/job.yaml.
nlohmann::json base_pod(const GnnJob& job, const Settings& settings, const std::string& name,
                        const char* role);

/// Of a pod: the container that is ours.
nlohmann::json& engine_of(nlohmann::json& pod);

/// Adds a volume to the pod (`source`: {"emptyDir": {}}) and mounts it in the engine's container.
void mount(nlohmann::json& pod, const char* volume, nlohmann::json source, const char* path, bool read_only);

/// Only so long as the gate is there does the scheduler leave the pod alone.
void add_gate(nlohmann::json& pod);

/// Items of the Secret with the job's keys, named as files; read by the group that the pod's processes are
/// in.
nlohmann::json keys_source(const GnnJob& job, std::initializer_list<const char*> items);

inline constexpr const char* kDataRoot = "/data";
inline constexpr const char* kPrepared = "/prepared";

/// The data set's volume, and that of prepared graphs where the job has one of its own. `prepares`: what has
/// to be written there, is.
void mount_data(nlohmann::json& pod, const GnnJob& job, bool prepares);

/// Where the engine finds them, for its command line.
void name_data(nlohmann::json& command, const Job& job);

/// requests and limits of so many ranks, with the memory of /dev/shm; without their GPUs.
nlohmann::json rank_resources(const Job& job, int ranks, std::int64_t shared_memory);
/// A pod's GPUs for so many ranks.
void add_gpus(nlohmann::json& pod, const Job& job, int ranks, const std::string& gpu);

}  // namespace atl::ctl
