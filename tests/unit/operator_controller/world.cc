#include "operator_controller/world.h"

#include "operator/objects/names.h"

namespace atl::ctl {

World::World() {
  atoll.settings.mpi_jobs = true;
  for (int n = 1; n <= 4; ++n) {
    FakeNode node;
    const std::string name = "n" + std::to_string(n);
    node.labels["kubernetes.io/hostname"] = name, node.labels["rack"] = n <= 2 ? "r1" : "r2";
    cluster.nodes[name] = node;
  }
}

World::~World() = default;

void World::run_to_end(int seconds, const std::string& job) {
  atoll.run(seconds, [&] { return has_ended(job); });
  atoll.run(200);
}

bool World::trains(const std::string& job) {
  for (const auto& name : cluster.pods_of(job, kLauncherRole))
    if (cluster.is_running(name)) return true;
  return false;
}

void World::until_training(int seconds_done) {
  atoll.run(600, [&] { return trains() && cluster.runs["cora"].seconds_done >= seconds_done; });
  ASSERT_TRUE(trains());
}

void World::suspend(bool is_suspended) {
  atoll.job()["spec"]["runPolicy"]["suspend"] = is_suspended;
  cluster.is_changed = true;
}

void World::kill_node(const std::string& name) {
  cluster.nodes.at(name).is_dead = true;
  cluster.nodes.at(name).since = cluster.now;
  cluster.is_changed = true;
}

void World::heal_node(const std::string& name) {
  if (!cluster.nodes.at(name).is_dead) return;
  cluster.nodes.at(name).is_dead = false;
  cluster.nodes.at(name).since = cluster.now;
  cluster.is_changed = true;
}

void expect_success(World& world, const std::string& job) {
  EXPECT_EQ(world.atoll.state(job), "Succeeded") << world.atoll.job(job).dump(1);
  EXPECT_EQ(world.cluster.runs[job].completions, 1);
  EXPECT_THAT(world.cluster.pods_of(job, kWorkerRole), testing::IsEmpty())
      << "workers of a job that has ended";
  EXPECT_EQ(world.atoll.status(job).result.test, 0.81);
}

json mpi_job_json(Changes changes) {
  json job = sample_job_json(changes);
  job["spec"]["launcher"] = "mpijob";
  return job;
}

std::vector<std::string> mpi_jobs(const World& world) {
  std::vector<std::string> names;
  for (const auto& [key, object] : world.cluster.objects)
    if (key.first == Kind::kMpiJob) names.push_back(key.second);
  return names;
}

void live(const Life& life) {
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
