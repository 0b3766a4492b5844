// A GNNJob of 4 ranks on 2 servers, as the API would give it, with changes by JSON pointer.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "operator/api/gnnjob.h"

namespace atl::ctl {

using Changes = std::initializer_list<std::pair<const char*, nlohmann::json>>;

inline nlohmann::json sample_job_json(Changes changes = {}) {
  auto object = nlohmann::json::parse(R"({
    "apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob",
    "metadata": {"name": "cora", "namespace": "team", "uid": "job-uid", "generation": 1,
                 "creationTimestamp": "2026-03-01T12:00:00Z"},
    "spec": {"dataset": {"name": "cora", "volume": {"persistentVolumeClaim": {"claimName": "datasets"}}},
             "model": {"kind": "gcn"}, "placement": {"ranks": 4, "ranksPerServer": 2},
             "resources": {"cpu": 1.5, "memory": "1Gi"},
             "output": {"volume": {"persistentVolumeClaim": {"claimName": "results"}}}}})");
  for (const auto& [pointer, value] : changes) object[nlohmann::json::json_pointer(pointer)] = value;
  return object;
}

/// A job that has keys.
inline GnnJob sample_job(Changes changes = {}) {
  GnnJob job = read_gnn_job(sample_job_json(changes).dump());
  job.status.keys = job.meta.name + "-keys-1";
  return job;
}

}  // namespace atl::ctl
