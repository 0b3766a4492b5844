// A cluster of 120 nodes in 12 racks and 3 zones that change, with other people's pods, a queue, volumes, and
// the collector of what gone jobs owned.
#pragma once

#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator_controller/fake_kueue.h"
#include "operator_run/stage.h"

namespace atl::ctl {

/// What a soak comes to.
struct SoakFigures {
  int jobs = 0, attempts = 0, succeeded = 0, failed = 0, deleted = 0;
  int statuses = 0, lists = 0, operators = 0, deaths = 0, refusals = 0, losses = 0, nodes_replaced = 0;
  std::size_t writes = 0, most_jobs = 0, most_pods = 0, most_bytes = 0, bytes = 0;
};

struct SoakCluster : Stage {
  static constexpr int kRacks = 12, kNodesOfRack = 10, kRacksOfZone = 4;
  static constexpr std::int64_t kNodeCores = 8000, kQuota = 60'000;

  FakeKueue queue{cluster};
  std::map<std::string, Moment> stranger_came;       // by node: when somebody else's pod was last bound there
  std::multimap<Moment, std::function<void()>> due;  // what is to happen, in order
  SoakFigures figures;

  SoakCluster() {
    cluster.nodes.clear();
    for (int rack = 0; rack < kRacks; ++rack)
      for (int node = 0; node < kNodesOfRack; ++node) add_node(rack);
    add_volumes();
    queue.cores = kQuota;
    cluster.flavors["on-demand"] = {{"metadata", {{"name", "on-demand"}, {"uid", "on-demand"}}},
                                    {"spec", json::object()}};
    api.admit = [](json& pod) {
      if (pod["spec"].value("priorityClassName", "") == "urgent") pod["spec"]["priority"] = 1000;
    };
    tells_changes_alone = kueue = true;
  }

  void later(Seconds wait, std::function<void()> what) { due.emplace(cluster.now + wait, std::move(what)); }
  void do_what_is_due() {
    while (!due.empty() && due.begin()->first <= cluster.now) {
      const auto next = due.extract(due.begin());
      next.mapped()();
    }
  }

  // Nodes.

  void add_node(int rack) {
    const std::string name = "node-" + std::to_string(nodes_made_++);
    FakeNode& node = cluster.nodes[name];
    node.cores = kNodeCores;
    node.since = cluster.now;
    node.labels["kubernetes.io/hostname"] = name;
    node.labels["rack"] = "r" + std::to_string(rack);
    node.labels["zone"] = std::string(1, char('a' + rack / kRacksOfZone));
    cluster.touch_node(name);
  }
  /// Does it to the node, unless that is gone or going.
  void change_node(const std::string& name, const std::function<void(FakeNode&)>& change) {
    const auto found = cluster.nodes.find(name);
    if (found == cluster.nodes.end() || api.hidden_nodes.contains(name)) return;
    change(found->second);
    cluster.touch_node(name);
  }
  void set_dead(const std::string& name, bool is_dead) {
    change_node(name, [&](FakeNode& node) {
      if (node.is_dead != is_dead) node.since = cluster.now;
      node.is_dead = is_dead;
    });
  }
  /// The node is deleted with its machine. Its pods go from the API after a while, and another node comes.
  void replace_node(const std::string& name) {
    if (api.hidden_nodes.contains(name)) return;
    const int rack = std::stoi(cluster.nodes.at(name).labels.at("rack").substr(1));
    set_dead(name, true);
    api.hidden_nodes.insert(name);
    cluster.touch_node(name);
    ++figures.nodes_replaced;
    later(Seconds(50), [this, name] {
      std::vector<std::string> lost;
      for (const auto& [pod, object] : cluster.pods)
        if (node_of(object) == name) lost.push_back(pod);
      for (const std::string& pod : lost) take_pod(pod);
      cluster.nodes.erase(name);
      api.hidden_nodes.erase(name);
      stranger_came.erase(name);
      cluster.touch_node(name);
    });
    later(Seconds(300), [this, rack] { add_node(rack); });
  }
  void mend_nodes() {
    std::vector<std::string> names;
    for (const auto& [name, node] : cluster.nodes) names.push_back(name);
    for (const std::string& name : names) {
      set_dead(name, false);
      change_node(name, [](FakeNode& node) {
        node.is_cordoned = node.rejects = false;
        node.pulls_images = true;
      });
    }
  }
  bool is_usable(const std::string& name) const {
    const FakeNode& node = cluster.nodes.at(name);
    return !node.is_dead && !node.is_cordoned && !api.hidden_nodes.contains(name);
  }

  // Other people's pods.

  /// Binds one to the first node from `first` on that has room, as the scheduler would.
  bool bring_stranger(const std::string& pod, std::int64_t cores, int first) {
    std::map<std::string, std::int64_t> taken;
    for (const auto& [name, object] : cluster.pods)
      if (phase_of(object) != "Succeeded" && phase_of(object) != "Failed")
        taken[node_of(object)] += requests_of(object.at("spec")).of("cpu");
    std::vector<std::string> names;
    for (const auto& [name, node] : cluster.nodes) names.push_back(name);
    for (std::size_t n = 0; n < names.size(); ++n) {
      const std::string& node = names[(std::size_t(first) + n) % names.size()];
      if (!is_usable(node) || taken[node] + cores > kNodeCores) continue;
      cluster.occupy(node, cores, pod);
      stranger_came[node] = cluster.now;
      return true;
    }
    return false;
  }
  /// The pod is gone at once, without a word.
  void take_pod(const std::string& pod) {
    if (cluster.pods.erase(pod) > 0) cluster.touch(Kind::kPod, pod);
  }

  void take_strangers() {
    std::vector<std::string> names;
    for (const auto& [name, pod] : cluster.pods)
      if (label_of(pod, kJobLabel).empty()) names.push_back(name);
    for (const std::string& name : names) take_pod(name);
  }

  // What Kubernetes does by itself.

  /// What a job owns goes after the job, or before it where its user asked for that; pods first.
  void collect_garbage() {
    std::set<std::string> owners, last;  // UIDs of jobs that stay, and names of jobs that go
    for (const auto& [key, object] : cluster.objects) {
      if (key.first != Kind::kJob) continue;
      if (object.at("metadata").contains("deletionTimestamp"))
        last.insert(key.second);
      else
        owners.insert(object.at("metadata").at("uid").get<std::string>());
    }
    const auto goes = [&](const json& object) {
      const json& metadata = object.at("metadata");
      return metadata.contains("ownerReferences") &&
             !owners.contains(metadata.at("ownerReferences").at(0).at("uid").get<std::string>());
    };
    std::vector<std::string> pods;
    std::set<std::string> with_pods;
    for (const auto& [name, pod] : cluster.pods) {
      if (!goes(pod)) continue;
      with_pods.insert(label_of(pod, kJobLabel));
      if (!pod.at("metadata").contains("deletionTimestamp")) pods.push_back(name);
    }
    for (const std::string& pod : pods)
      cluster.remove(Kind::kPod, pod, cluster.pods.at(pod).at("metadata").at("uid").get<std::string>(), {});
    for (auto object = cluster.objects.begin(); object != cluster.objects.end();) {
      const auto [kind, name] = object->first;
      const bool is_job = kind == Kind::kJob;
      const std::string job = is_job ? name : label_of(object->second, kJobLabel);
      const bool is_over = !with_pods.contains(job) && (is_job ? last.contains(name) : goes(object->second));
      if (is_over) cluster.touch(kind, name);
      object = is_over ? cluster.objects.erase(object) : std::next(object);
    }
  }

 private:
  /// Each zone has a claim whose volume only its nodes can use.
  void add_volumes() {
    for (const std::string zone : {"a", "b", "c"}) {
      const json rule = {{"key", "zone"}, {"operator", "In"}, {"values", {zone}}};
      const json terms = json::array({{{"matchExpressions", json::array({rule})}}});
      api.more["persistentvolumeclaims/data-" + zone] = {
          {"metadata", {{"name", "data-" + zone}, {"namespace", "team"}, {"uid", "claim-" + zone}}},
          {"spec", {{"volumeName", "volume-" + zone}}}};
      api.more["persistentvolumes/volume-" + zone] = {
          {"metadata", {{"name", "volume-" + zone}, {"uid", "volume-" + zone}}},
          {"spec", {{"nodeAffinity", {{"required", {{"nodeSelectorTerms", terms}}}}}}}};
    }
    api.more["priorityclasses/urgent"] = {{"metadata", {{"name", "urgent"}, {"uid", "urgent"}}},
                                          {"value", 1000}};
  }

  int nodes_made_ = 0;
};

}  // namespace atl::ctl
