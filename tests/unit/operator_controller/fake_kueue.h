// Kueue as jobs see it: one queue with room for so many cores, first come, first served. It checks every
// second that no pod exists without an admission, and that an evicted job's room is reused only once it is
// given back. Where it is told which nodes to assign, it does as Kueue 0.19 does with pods there: it moves an
// assignment away from a lost node once none of the job's pods runs there, and ends pods that wait for a node
// which isn't assigned. It checks that pods on assigned nodes say so.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/api/workload.h"
#include "operator/plan/node_filter.h"
#include "operator_controller/fake_cluster.h"

namespace atl::ctl {

class FakeKueue {
 public:
  explicit FakeKueue(FakeCluster& cluster);

  std::int64_t cores = 8000;  // in thousandths
  bool is_down = false;
  std::string flavor = "on-demand";
  std::map<std::string, std::map<std::string, int>> assigns;  // pods by node, by set of pods; empty: no nodes
  std::string lowest_level = kHostnameLabel;                  // of what it assigns
  std::vector<std::string> spares;                            // nodes that replace lost ones, the last first

  json& workload(const std::string& job = "cora");
  bool has_workload(const std::string& job = "cora") const;
  Workload read(const std::string& job = "cora") { return read_workload(workload(job)); }

  void evict(const std::string& job = "cora", const std::string& reason = "Preempted");

 private:
  void tick();
  void check_pods() const;
  void admit(json& object);
  void move_from_lost_nodes(json& object);
  void end_stray_pods();
  std::int64_t used();
  void say(json& object, const char* type, bool holds, const std::string& reason, const std::string& message);

  FakeCluster& cluster_;
};

/// Thousandths of cores that all pods of a Workload take.
std::int64_t cores_of(const json& workload);

/// As Kueue would write it: one slice, with a root and a number for each node.
json topology_assignment(const std::map<std::string, int>& pods, const std::string& lowest_level);

/// The node by which Kueue knows where the pod is to run, or "".
std::string pin_of(const json& pod);

}  // namespace atl::ctl
