#include "operator_controller/queue_world.h"

#include "operator/objects/names.h"

namespace atl::ctl {

const json kFlavor = {{"metadata", {{"name", "on-demand"}}}, {"spec", {{"nodeLabels", {{"pool", "gnn"}}}}}};

QueueWorld::QueueWorld() {
  atoll.settings.kueue = true;
  cluster.flavors["on-demand"] = kFlavor;
  for (auto& [name, node] : cluster.nodes) node.labels["pool"] = "gnn";
}

json queued_job(Changes changes) {
  json job = sample_job_json(changes);
  job["metadata"]["labels"][kQueueLabel] = "team-queue";
  return job;
}

json job_in_one_rack(const char* policy) {
  return queued_job({{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                     {"/spec/placement/within", "rack"},
                     {"/spec/placement/policy", policy}});
}

void live_queued(const std::function<void(QueueWorld&)>& life) {
  QueueWorld first;
  life(first);
  const int writes = first.atoll.writes;
  ASSERT_GT(writes, 5);
  for (int kill = 0; kill <= writes && !testing::Test::HasFailure(); ++kill) {
    SCOPED_TRACE("the operator is killed after " + std::to_string(kill) + " writes");
    QueueWorld world;
    world.atoll.kill_after = kill;
    life(world);
  }
}

Condition condition(World& world, const char* type, const std::string& job) {
  const Status status = world.atoll.status(job);
  const Condition* found = find_condition(status.conditions, type);
  return found ? *found : Condition{};
}

}  // namespace atl::ctl
