// Pieces that several of a job's objects share. For this folder only: the folder's results are text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// Adds a rule to the pod's node affinity: a match expression of a node selector. Call it after the template,
/// whose affinity it narrows.
void demand_of_nodes(nlohmann::json& pod, const nlohmann::json& rule);

/// Leaves out nodes whose labels tell an older driver than the engine's image needs. Else a scheduler or a
/// queue, which choose nodes by a pod's spec, would take them.
void demand_driver(nlohmann::json& spec, const GnnJob& job, const Settings& settings);

/// Demands nodes that the engine's image runs on, unless the pod's own node selector says so. Call it after
/// the template, whose affinity it narrows.
void demand_platform(nlohmann::json& pod, const Settings& settings);

/// An object of the job: apiVersion, kind, and metadata with the common labels and the job as owner.
nlohmann::json object_of(const GnnJob& job, const char* api_version, const char* kind,
                         const std::string& name);

/// A pod that meets the restricted Pod Security level and does nothing yet. It has one container, named
/// engine, with a read-only root, scratch space on /tmp, /run/atoll and /var/lib/extrausers, and the manifest
/// at /etc/atoll/job/job.yaml.
nlohmann::json base_pod(const GnnJob& job, const Settings& settings, const std::string& name,
                        const char* role);

/// The engine's container of a pod.
nlohmann::json& engine_of(nlohmann::json& pod);

/// Adds a volume to the pod (`source`: {"emptyDir": {}}) and mounts it in the engine's container.
void mount(nlohmann::json& pod, const char* volume, nlohmann::json source, const char* path, bool read_only);

/// Adds our gate: the scheduler leaves the pod alone while it has one.
void add_gate(nlohmann::json& pod);

/// Items of the Secret with the job's keys, named as files, and readable by the group of the pod's processes.
nlohmann::json keys_source(const GnnJob& job, std::initializer_list<const char*> items);

inline constexpr const char* kDataRoot = "/data";
inline constexpr const char* kPrepared = "/prepared";

/// Mounts the data set's volume, and that of prepared graphs where the job has one. `prepares`: the pod
/// writes to them.
void mount_data(nlohmann::json& pod, const GnnJob& job, bool prepares);

/// Adds the data's folders to the engine's command line.
void name_data(nlohmann::json& command, const Job& job);

/// Requests and limits of so many ranks, with memory for /dev/shm; without their GPUs.
nlohmann::json rank_resources(const Job& job, int ranks, std::int64_t shared_memory);
/// A pod's GPUs for so many ranks.
void add_gpus(nlohmann::json& pod, const Job& job, int ranks, const std::string& gpu);

}  // namespace atl::ctl
