// A cluster of four nodes in two racks, each with room for one server of 3 cores and a launcher, with an
// operator and mpi-operator; and lives of jobs in it, run again and again.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <string>
#include <vector>

#include "operator_api/sample_job.h"
#include "operator_controller/fake_mpi_operator.h"
#include "operator_controller/fake_operator.h"

namespace atl::ctl {

struct World {
  FakeCluster cluster;
  FakeOperator atoll{cluster};
  FakeMpiOperator mpi_operator{cluster};

  World();
  ~World();  // defined in the .cc, so that the code that ends all the maps within is compiled once

  bool has_ended(const std::string& job = "cora") { return ctl::has_ended(atoll.status(job).conditions); }
  /// Runs to the job's end and some time longer, because what is done afterwards belongs to it.
  void run_to_end(int seconds = 900, const std::string& job = "cora");
  bool trains(const std::string& job = "cora");
  void until_training(int seconds_done = 7);
  void suspend(bool is_suspended);
  void kill_node(const std::string& name);
  void heal_node(const std::string& name);
};

/// The job has ended successfully, once, and only its launcher's pod is left.
void expect_success(World& world, const std::string& job = "cora");

json mpi_job_json(Changes changes = {});

/// Names of the MPIJobs in the world.
std::vector<std::string> mpi_jobs(const World& world);

using Life = std::function<void(World&)>;

/// Runs the life undisturbed, then once for each write after which the operator can die.
void live(const Life& life);

}  // namespace atl::ctl
