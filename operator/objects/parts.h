// Pieces that several of a job's objects share. They are for this folder only, whose functions return text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "operator/api/gnnjob.h"
#include "operator/objects/settings.h"

namespace atl::ctl {

/// Adds a rule to the pod's node affinity: a match expression of a node selector. Call it after the template,
/// whose affinity it narrows.
void demand_of_nodes(nlohmann::json& pod, const nlohmann::json& rule);

/// Excludes nodes whose labels show an older driver than the engine's image needs. Otherwise schedulers and
/// queues, which choose nodes by a pod's spec, would choose such nodes.
void demand_driver(nlohmann::json& spec, const GnnJob& job, const Settings& settings);

/// Demands nodes on which the engine's image runs, unless the pod's own node selector names a platform. Call
/// it after the template is merged, because it narrows the template's affinity.
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

/// Adds our gate. The scheduler leaves the pod alone until the gate is removed.
void add_gate(nlohmann::json& pod);

/// A volume source with items of the Secret with the job's keys. The files have the items' names, and the
/// group of the pod's processes can read them.
nlohmann::json keys_source(const GnnJob& job, std::initializer_list<const char*> items);

inline constexpr const char* kDataRoot = "/data";
inline constexpr const char* kPrepared = "/prepared";

/// Mounts the data set's volume, and the volume of prepared graphs if the job has one. `prepares` says that
/// the pod writes to them.
void mount_data(nlohmann::json& pod, const GnnJob& job, bool prepares);

/// Adds the folders of the data to the engine's command line.
void name_data(nlohmann::json& command, const Job& job);

/// Requests and limits for `ranks` ranks, with memory for /dev/shm, but without GPUs.
nlohmann::json rank_resources(const Job& job, int ranks, std::int64_t shared_memory);
/// Adds the GPUs of a pod with `ranks` ranks.
void add_gpus(nlohmann::json& pod, const Job& job, int ranks, const std::string& gpu);

}  // namespace atl::ctl
