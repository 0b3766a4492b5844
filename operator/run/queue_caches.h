// Input of Kueue's queues in the whole cluster: kinds of nodes, and classes of priority.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator/api/gnnjob.h"
#include "operator/kube/cache.h"
#include "operator/run/kinds.h"

namespace atl::ctl {

class QueueCaches {
 public:
  QueueCaches();

  void add_feeds(std::vector<Feed>& feeds);

  // From any thread:
  /// A ResourceFlavor's partial pod template; nothing where there is none of that name.
  std::optional<std::string> flavor(const std::string& name) const;
  /// The names of ResourceFlavors that name a Topology.
  std::set<std::string> topology_flavors() const;
  /// The class that the job's label names, else that of its pods, else the cluster's default. Nothing where
  /// there is no such class.
  std::optional<QueuePriority> priority_of(const GnnJob& job) const;

 private:
  struct Flavor {
    std::string name, pods;  // pods: a partial pod template
    bool has_topology = false;
  };
  struct PriorityClass {
    std::string name;
    int value = 0;
    bool is_default = false;
  };
  static Flavor read_flavor(std::string_view text);
  static PriorityClass read_class(std::string_view text);

  kube::Cache<Flavor> flavors_;
  kube::Cache<PriorityClass> queue_classes_, pod_classes_;
};

}  // namespace atl::ctl
