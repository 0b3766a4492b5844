// The objects of a cluster in memory, and its API server, which keeps JSON. fake_cluster.h makes things
// happen.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {

using nlohmann::json;

inline const Moment kBegin = *parse_moment("2026-03-01T12:00:00Z");

struct FakeNode {
  std::int64_t cores = 4000;  // in thousandths
  bool is_dead = false;       // its kubelet is silent; pods there run on
  bool is_cordoned = false;
  std::vector<Taint> taints{};
  Moment since = kBegin;
  bool pulls_images = true;
  bool rejects = false;  // its kubelet rejects every pod
  std::map<std::string, std::string> labels{{kSystemLabel, kSystem}};
  std::int64_t gpus = 0;
  std::string gpu_resource = kGpuResource;
};

/// A launcher's behaviour from its start on.
struct FakeTraining {
  int seconds = 20;          // of a whole run
  int checkpoint_every = 5;  // seconds
};

class FakeCluster {
 public:
  Moment now = kBegin;
  std::map<std::string, FakeNode> nodes;
  std::map<std::string, json> pods;                                   // by name
  std::map<std::pair<Kind, std::string>, json> objects;               // all others, including jobs
  std::map<std::string, json> flavors;                                // Kueue's ResourceFlavors
  std::map<std::string, int> priorities{{"atoll-placeholder", -10}};  // PriorityClasses
  FakeTraining training;
  std::map<std::string, FakeTraining> trainings;  // of jobs that behave otherwise
  bool is_changed = true;                         // since somebody last looked
  // what has come, changed or gone; whoever reads it empties it
  std::set<std::pair<Kind, std::string>> changed;
  std::set<std::string> changed_nodes;
  bool is_seen_late = false;  // whoever writes may not have seen the latest state

  struct Run {  // a job's runs, as its output folder and its launchers know them
    int launches = 0, completions = 0, newest_attempt = 0, seconds_done = 0, checkpoint = 0;
  };
  std::map<std::string, Run> runs;
  /// Why the API server refuses an object, "" where it accepts it.
  std::function<std::string(Kind, const json&)> refuse = [](Kind, const json&) { return ""; };
  /// Whether it refuses to delete an object of that name.
  std::function<bool(Kind, const std::string&)> keeps = [](Kind, const std::string&) { return false; };
  /// What the scheduler does with a pod that has no node. Nothing: finds a node. "": is silent. Else: its
  /// reason against the pod.
  std::function<std::optional<std::string>(const json&)> hinder = [](const json&) { return std::nullopt; };
  std::string network = "10.1.0.";  // the beginning of pods' addresses
  int prepares = 0;
  bool does_prepare_fail = false;
  json waits_for = {{"reason", "ImagePullBackOff"},
                    {"message", "no such image"}};  // where images can't be pulled
  std::string failed_prepare_log = "loading\nno data set 'cora'\n", prepare_reason = "Completed",
              prepare_message;
  // members of the prepare step's result beside the usual ones: ,"strategy":…
  std::string prepares_also;
  std::function<void()> others;  // controllers beside the operator, called once a second

  void tick();
  /// Somebody has changed the object in place, or it comes or goes.
  void touch(Kind kind, const std::string& name) {
    changed.emplace(kind, name);
    is_changed = true;
  }
  void touch_node(const std::string& name) {
    changed_nodes.insert(name);
    is_changed = true;
  }

  void create(Kind kind, const std::string& name, json object);
  void patch_pod(const std::string& name, const json& patch);
  void patch_object(Kind kind, const std::string& name, const json& patch);
  void remove(Kind kind, const std::string& name, const std::string& uid, std::optional<int> grace);

  /// Adds somebody else's pod, bound at once.
  void occupy(const std::string& node, std::int64_t cores, const std::string& name = "stranger");
  /// Ends a container from inside.
  void end_pod(const std::string& name, int exit_code, const std::string& reason, const std::string& message);
  std::vector<std::string> pods_of(const std::string& job, const std::string& role) const;
  Snapshot snapshot() const;
  bool is_running(const std::string& pod) const;

 private:
  void schedule(json& pod);
  void refuse_place(json& pod, const std::string& why);
  void live(const std::string& name, json& pod);
  void begin(const std::string& name, json& pod);
  void train(const std::string& name, json& pod);
  void check_gang(const std::string& name, const json& pod) const;
  void begin_training(const std::string& name, const json& pod);
  void evict_from_dead_nodes(json& pod);
  bool take_away(const std::string& name, json& pod);
  NodeState state_of_node(const std::string& name) const;
  /// Thousandths of cores that bound pods take, by node.
  std::map<std::string, std::int64_t> used() const;

  std::set<std::string> trains_;  // uids of launchers
  int next_uid_ = 1, next_ip_ = 1;
};

inline std::string label_of(const json& pod, const char* label) {
  const json& metadata = pod.at("metadata");
  const auto labels = metadata.find("labels");
  return labels == metadata.end() ? "" : labels->value(label, "");
}
inline std::string node_of(const json& pod) {
  return pod.at("spec").value("nodeName", "");
}
inline std::string phase_of(const json& pod) {
  return pod.at("status").value("phase", "Pending");
}

inline void FakeCluster::create(Kind kind, const std::string& name, json object) {
  object["metadata"]["uid"] = "uid-" + std::to_string(next_uid_++);
  object["metadata"]["creationTimestamp"] = text_of(now);
  touch(kind, name);
  if (kind != Kind::kPod) {
    EXPECT_TRUE(objects.emplace(std::pair(kind, name), object).second) << name << " exists already";
    return;
  }
  object["status"] = {{"phase", "Pending"}};
  const json spec = object.value("spec", json::object());
  const auto priority = priorities.find(spec.value("priorityClassName", ""));
  if (priority != priorities.end()) object["spec"]["priority"] = priority->second;
  EXPECT_TRUE(pods.emplace(name, object).second) << name << " exists already";
}

inline void FakeCluster::patch_pod(const std::string& name, const json& patch) {
  ASSERT_TRUE(pods.contains(name)) << name;
  const json before = pods.at(name);
  json after = before.patch(patch);
  const bool was_gated = !before.at("spec").at("schedulingGates").empty();
  EXPECT_TRUE(was_gated) << name << ": a pod without gates can't be changed";
  if (label_of(after, kRoleLabel) == kLauncherRole && !is_gated(read_pod(after.dump())))
    check_gang(name, after);
  pods.at(name) = std::move(after);
  touch(Kind::kPod, name);
}

inline void FakeCluster::patch_object(Kind kind, const std::string& name, const json& patch) {
  json& object = objects.at({kind, name});
  object = object.patch(patch);
  touch(kind, name);
}

inline void FakeCluster::remove(Kind kind, const std::string& name, const std::string& uid,
                                std::optional<int> grace) {
  touch(kind, name);
  if (kind != Kind::kPod) {
    const auto found = objects.find({kind, name});
    ASSERT_TRUE(found != objects.end()) << name;
    ASSERT_EQ(found->second.at("metadata").at("uid"), uid);
    objects.erase(found);
    return;
  }
  ASSERT_TRUE(pods.contains(name)) << name;
  json& pod = pods.at(name);
  ASSERT_EQ(pod.at("metadata").at("uid"), uid);
  const int seconds = grace.value_or(pod.at("spec").value("terminationGracePeriodSeconds", 30));
  if (node_of(pod).empty() || seconds == 0) {
    trains_.erase(uid);
    pods.erase(name);
    return;
  }
  pod["metadata"]["deletionTimestamp"] = text_of(now + Seconds(seconds));
  pod["metadata"]["deletionGracePeriodSeconds"] = seconds;
}

inline void FakeCluster::occupy(const std::string& node, std::int64_t cores, const std::string& name) {
  const json pod =
      json::parse(R"({"metadata": {"namespace": "other"}, "spec": {"containers": [{"name": "c"}]}})");
  create(Kind::kPod, name, pod);
  json& made = pods.at(name);
  made["metadata"]["name"] = name;
  made["spec"]["nodeName"] = node;
  made["spec"]["containers"][0]["resources"] = {{"requests", {{"cpu", std::to_string(cores) + "m"}}}};
  made["status"]["phase"] = "Running";
}

inline void FakeCluster::end_pod(const std::string& name, int exit_code, const std::string& reason,
                                 const std::string& message) {
  json& status = pods.at(name)["status"];
  status["phase"] = exit_code == 0 ? "Succeeded" : "Failed";
  status["conditions"] = json::array({{{"type", "Ready"}, {"status", "False"}}});
  const json end = {{"exitCode", exit_code}, {"reason", reason}, {"message", message}};
  status["containerStatuses"] = json::array({{{"name", kEngine}, {"state", {{"terminated", end}}}}});
  trains_.erase(pods.at(name).at("metadata").at("uid").get<std::string>());
  touch(Kind::kPod, name);
}

inline std::vector<std::string> FakeCluster::pods_of(const std::string& job, const std::string& role) const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods)
    if (label_of(pod, kJobLabel) == job && label_of(pod, kRoleLabel) == role) names.push_back(name);
  return names;
}

inline bool FakeCluster::is_running(const std::string& pod) const {
  return pods.contains(pod) && phase_of(pods.at(pod)) == "Running";
}

inline NodeState FakeCluster::state_of_node(const std::string& name) const {
  const FakeNode& node = nodes.at(name);
  NodeState state;
  state.name = name;
  state.labels = node.labels;
  state.ready = !node.is_dead;
  state.cordoned = node.is_cordoned;
  state.taints = node.taints;
  state.allocatable = Resources({{"cpu", node.cores}, {"memory", 1LL << 40}, {"pods", 100}});
  if (node.gpus > 0) state.allocatable.add(node.gpu_resource, double(node.gpus));
  return state;
}

inline Snapshot FakeCluster::snapshot() const {
  Snapshot snapshot;
  for (const auto& [name, node] : nodes) snapshot.nodes.push_back(state_of_node(name));
  for (const auto& [name, pod] : pods) snapshot.pods.push_back(pod_state(pod));
  return snapshot;
}

}  // namespace atl::ctl
