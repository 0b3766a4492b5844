#include "operator_controller/fake_mpi_operator.h"

#include <utility>
#include <vector>

namespace atl::ctl {

FakeMpiOperator::FakeMpiOperator(FakeCluster& cluster) : cluster_(cluster) {
  cluster_.others = [this] { tick(); };
}

void FakeMpiOperator::make(const json& mpi_job, const std::string& role, const std::string& name,
                           const json& labels) {
  json pod = mpi_job.at("spec").at("mpiReplicaSpecs").at(role).at("template");
  const json& owner = mpi_job.at("metadata");
  pod["metadata"]["name"] = name;
  pod["metadata"]["namespace"] = owner.at("namespace");
  pod["metadata"]["labels"].update(labels);
  pod["metadata"]["ownerReferences"] = json::array({{{"uid", owner.at("uid")}, {"controller", true}}});
  pod["spec"]["hostname"] = name;
  cluster_.create(Kind::kPod, name, pod);
}

void FakeMpiOperator::work_on(json& mpi_job) {
  const std::string name = mpi_job.at("metadata").at("name"), uid = mpi_job.at("metadata").at("uid");
  const std::string launcher = name + "-launcher-x";
  const bool was_launched = launched_.contains(uid), is_there = cluster_.pods.contains(launcher);
  const std::string phase = is_there ? phase_of(cluster_.pods.at(launcher)) : "Failed";
  if (was_launched && (phase == "Succeeded" || phase == "Failed")) {
    if (mpi_job.contains("status")) return;
    mpi_job["status"]["conditions"] = json::array({{{"type", phase},
                                                    {"status", "True"},
                                                    {"reason", "BackoffLimitExceeded"},
                                                    {"message", "no more tries"}}});
    cluster_.is_changed = true;
    return;
  }
  const int workers = mpi_job.at("spec").at("mpiReplicaSpecs").at("Worker").at("replicas");
  for (int i = 0; i < workers; ++i) {
    const std::string worker = name + "-worker-" + std::to_string(i);
    if (!cluster_.pods.contains(worker))
      make(mpi_job, "Worker", worker, {{"training.kubeflow.org/replica-index", std::to_string(i)}});
  }
  if (!was_launched && !is_there)
    make(mpi_job, "Launcher", launcher, {{"batch.kubernetes.io/job-name", name}});
  launched_.insert(uid);
}

void FakeMpiOperator::collect_garbage() {
  std::set<std::string> owners;
  for (const auto& [key, object] : cluster_.objects) owners.insert(object.at("metadata").at("uid"));
  std::vector<std::pair<std::string, std::string>> orphans;
  for (const auto& [name, pod] : cluster_.pods) {
    const json& metadata = pod.at("metadata");
    if (!metadata.contains("ownerReferences") || metadata.contains("deletionTimestamp")) continue;
    if (!owners.contains(metadata.at("ownerReferences").at(0).at("uid")))
      orphans.emplace_back(name, metadata.at("uid"));
  }
  for (const auto& [name, uid] : orphans) cluster_.remove(Kind::kPod, name, uid, {});
}

void FakeMpiOperator::tick() {
  collect_garbage();
  if (is_down) return;
  for (auto& [key, object] : cluster_.objects)
    if (key.first == Kind::kMpiJob) work_on(object);
}

}  // namespace atl::ctl
