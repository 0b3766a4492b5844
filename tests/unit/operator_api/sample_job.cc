#include "operator_api/sample_job.h"

namespace atl::ctl {

nlohmann::json sample_job_json(Changes changes) {
  auto object = parse_json(R"({
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

GnnJob sample_job(Changes changes) {
  GnnJob job = read_gnn_job(sample_job_json(changes).dump());
  job.status.keys = job.meta.name + "-keys-1";
  return job;
}

}  // namespace atl::ctl
