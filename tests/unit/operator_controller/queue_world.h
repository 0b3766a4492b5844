// The world with one of Kueue's queues in it, and jobs that name the queue.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "operator_controller/fake_kueue.h"
#include "operator_controller/world.h"

namespace atl::ctl {

inline const json kFlavor = {{"metadata", {{"name", "on-demand"}}},
                             {"spec", {{"nodeLabels", {{"pool", "gnn"}}}}}};

struct QueueWorld : World {
  FakeKueue kueue{cluster};

  QueueWorld() {
    atoll.settings.kueue = true;
    cluster.flavors["on-demand"] = kFlavor;
    for (auto& [name, node] : cluster.nodes) node.labels["pool"] = "gnn";
  }
};

inline json queued_job(Changes changes = {}) {
  json job = sample_job_json(changes);
  job["metadata"]["labels"][kQueueLabel] = "team-queue";
  return job;
}

/// All of whose ranks must, or should, be in one rack.
inline json job_in_one_rack(const char* policy = "Required") {
  return queued_job({{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                     {"/spec/placement/within", "rack"},
                     {"/spec/placement/policy", policy}});
}

/// Runs the life undisturbed, then once for each write after which the operator can die.
inline void live_queued(const std::function<void(QueueWorld&)>& life) {
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

inline Condition condition(World& world, const char* type, const std::string& job = "cora") {
  const Status status = world.atoll.status(job);
  const Condition* found = find_condition(status.conditions, type);
  return found ? *found : Condition{};
}

}  // namespace atl::ctl
