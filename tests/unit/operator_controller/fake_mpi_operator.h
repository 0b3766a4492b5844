// mpi-operator, the Job controller and the garbage collector, as far as pods show them. Missing workers are
// made, also after one was deleted, but never where one has failed; a launcher is made once; the objects of a
// deleted MPIJob are deleted.
#pragma once

#include <set>
#include <string>

#include "operator_controller/fake_cluster.h"

namespace atl::ctl {

class FakeMpiOperator {
 public:
  explicit FakeMpiOperator(FakeCluster& cluster);

  bool is_down = false;

 private:
  void tick();
  void work_on(json& mpi_job);
  void make(const json& mpi_job, const std::string& role, const std::string& name, const json& labels);
  void collect_garbage();

  FakeCluster& cluster_;
  std::set<std::string> launched_;  // uids
};

}  // namespace atl::ctl
