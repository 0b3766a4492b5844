// An autoscaler of a fake cluster: for each placeholder that the scheduler finds no node for it adds a node,
// once, after a time. It knows nothing of jobs, as a real one. And what the fake scheduler leaves out:
// placeholders go where any other pod needs their room.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "operator_controller/fake_cluster.h"

namespace atl::ctl {

class FakeAutoscaler {
 public:
  explicit FakeAutoscaler(FakeCluster& cluster) : cluster_(cluster) {
    cluster.others = [this] {
      preempt();
      add_nodes();
    };
  }

  Seconds needs{30};       // from the scheduler's word to the node
  Seconds apart{0};        // from one node to the next
  bool is_silent = false;  // it adds nothing
  int added = 0;
  /// The rack in which a node for this pod is added, "" for none; nothing: it can't be added.
  std::function<std::optional<std::string>(const json& pod)> rack_for = [](const json&) {
    return std::string();
  };

 private:
  void preempt() {
    std::vector<std::string> victims;
    for (const auto& [name, pod] : cluster_.pods) {
      const PodView view = read_pod(pod.dump());
      if (view.gives_way || view.is_bound() || view.unschedulable.empty()) continue;
      for (const auto& [other, placeholder] : cluster_.pods)
        if (read_pod(placeholder.dump()).gives_way && !node_of(placeholder).empty() &&
            (view.pinned.empty() || view.pinned == node_of(placeholder)))
          victims.push_back(other);
    }
    for (const std::string& victim : victims)
      if (cluster_.pods.erase(victim) > 0) cluster_.touch(Kind::kPod, victim);
  }
  void add_nodes() {
    for (const auto& [name, pod] : cluster_.pods) {
      if (label_of(pod, kRoleLabel) != kPlaceholderRole) continue;
      const PodView view = read_pod(pod.dump());
      const bool waits = !view.is_bound() && !view.unschedulable.empty();
      if (!waits || is_silent || cluster_.now < view.scheduler_spoke.value_or(cluster_.now) + needs) continue;
      const auto rack = rack_for(pod);
      if (rack && cluster_.now >= last_ + apart && served_.insert(view.meta.uid).second) add(*rack);
    }
  }
  void add(const std::string& rack) {
    last_ = cluster_.now;
    const std::string name = "new" + std::to_string(++added);
    FakeNode node;
    node.since = cluster_.now;
    node.labels["kubernetes.io/hostname"] = name;
    if (!rack.empty()) node.labels["rack"] = rack;
    cluster_.nodes[name] = node;
    cluster_.touch_node(name);
  }

  FakeCluster& cluster_;
  std::set<std::string> served_;
  Moment last_{};
};

}  // namespace atl::ctl
