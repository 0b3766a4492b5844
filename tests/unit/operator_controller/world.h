// A cluster of four nodes in two racks, each with room for one server of 3 cores and a launcher, with an
// operator and mpi-operator; and lives of jobs in it, run again and again.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "operator_controller/fake_mpi_operator.h"
#include "operator_controller/fake_operator.h"

namespace atl::ctl {

struct World {
  FakeCluster cluster;
  FakeOperator atoll{cluster};
  FakeMpiOperator mpi_operator{cluster};

  World() {
    atoll.settings.mpi_jobs = true;
    for (int n = 1; n <= 4; ++n) {
      FakeNode node;
      const std::string name = "n" + std::to_string(n);
      node.labels["kubernetes.io/hostname"] = name, node.labels["rack"] = n <= 2 ? "r1" : "r2";
      cluster.nodes[name] = node;
    }
  }

  bool has_ended(const std::string& job = "cora") { return ctl::has_ended(atoll.status(job).conditions); }
  /// Runs to the job's end and some time longer, because what is done afterwards belongs to it.
  void run_to_end(int seconds = 900, const std::string& job = "cora") {
    atoll.run(seconds, [&] { return has_ended(job); });
    atoll.run(200);
  }
  bool trains(const std::string& job = "cora") {
    for (const auto& name : cluster.pods_of(job, kLauncherRole))
      if (cluster.is_running(name)) return true;
    return false;
  }
  void until_training(int seconds_done = 7) {
    atoll.run(600, [&] { return trains() && cluster.runs["cora"].seconds_done >= seconds_done; });
    ASSERT_TRUE(trains());
  }
  void suspend(bool is_suspended) {
    atoll.job()["spec"]["runPolicy"]["suspend"] = is_suspended;
    cluster.is_changed = true;
  }
  void kill_node(const std::string& name) {
    cluster.nodes.at(name).is_dead = true;
    cluster.nodes.at(name).since = cluster.now;
    cluster.is_changed = true;
  }
  void heal_node(const std::string& name) {
    if (!cluster.nodes.at(name).is_dead) return;
    cluster.nodes.at(name).is_dead = false;
    cluster.nodes.at(name).since = cluster.now;
    cluster.is_changed = true;
  }
};

/// The job has ended successfully, once, and only its launcher's pod is left.
inline void expect_success(World& world, const std::string& job = "cora") {
  EXPECT_EQ(world.atoll.state(job), "Succeeded") << world.atoll.job(job).dump(1);
  EXPECT_EQ(world.cluster.runs[job].completions, 1);
  EXPECT_THAT(world.cluster.pods_of(job, kWorkerRole), testing::IsEmpty())
      << "workers of a job that has ended";
  EXPECT_EQ(world.atoll.status(job).result.test, 0.81);
}

inline json mpi_job_json(Changes changes = {}) {
  json job = sample_job_json(changes);
  job["spec"]["launcher"] = "mpijob";
  return job;
}

inline std::vector<std::string> mpi_jobs(const World& world) {
  std::vector<std::string> names;
  for (const auto& [key, object] : world.cluster.objects)
    if (key.first == Kind::kMpiJob) names.push_back(key.second);
  return names;
}

using Life = std::function<void(World&)>;

/// Runs the life undisturbed, then once for each write after which the operator can die.
inline void live(const Life& life) {
  World first;
  life(first);
  const int writes = first.atoll.writes;
  ASSERT_GT(writes, 5);
  for (int kill = 0; kill <= writes && !testing::Test::HasFailure(); ++kill) {
    SCOPED_TRACE("the operator is killed after " + std::to_string(kill) + " writes");
    World world;
    world.atoll.kill_after = kill;
    life(world);
  }
}

}  // namespace atl::ctl
