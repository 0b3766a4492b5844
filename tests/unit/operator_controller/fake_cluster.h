// A cluster in memory: an API server that keeps JSON, a scheduler that counts cores, kubelets that start what is bound to
// them and remove what is deleted, and nodes that die. Everything happens in tick(), one second at a time.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "operator/controller/decision.h"
#include "operator/objects/names.h"
#include "operator/objects/release.h"

namespace atl::ctl {

using nlohmann::json;

inline const Moment kBegin = *parse_moment("2026-03-01T12:00:00Z");

struct FakeNode {
  std::int64_t cores = 4000;  // in thousandths
  bool is_dead = false;       // nothing on it is heard of; what ran there runs on
  bool is_cordoned = false;
  std::vector<Taint> taints{};
  Moment since = kBegin;
  bool pulls_images = true;
  bool rejects = false;  // its kubelet, every pod
  std::map<std::string, std::string> labels;
};

/// What a launcher does from the moment it runs.
struct FakeTraining {
  int seconds = 20;          // of a whole run
  int checkpoint_every = 5;  // seconds
};

class FakeCluster {
 public:
  Moment now = kBegin;
  std::map<std::string, FakeNode> nodes;
  std::map<std::string, json> pods;                      // by name
  std::map<std::pair<Kind, std::string>, json> objects;  // all others, jobs too
  std::map<std::string, json> flavors;                   // Kueue's ResourceFlavors
  FakeTraining training;
  bool is_changed = true;  // since somebody looked

  struct Run {  // of a job, as its output folder and its launchers tell
    int launches = 0, completions = 0, newest_attempt = 0, seconds_done = 0, checkpoint = 0;
  };
  std::map<std::string, Run> runs;
  /// Why the API server doesn't take an object, "" where it does.
  std::function<std::string(Kind, const json&)> refuse = [](Kind, const json&) { return ""; };
  /// The scheduler finds a node for it by itself, or: "", it is silent; else what it has against the pod.
  std::function<std::optional<std::string>(const json&)> hinder = [](const json&) { return std::nullopt; };
  std::string network = "10.1.0.";  // what pods' addresses begin with
  int prepares = 0;
  bool does_prepare_fail = false;
  std::function<void()> others;  // controllers beside the operator, once a second

  void tick();

  void create(Kind kind, const std::string& name, json object);
  void patch_pod(const std::string& name, const json& patch);
  void patch_object(Kind kind, const std::string& name, const json& patch);
  void remove(Kind kind, const std::string& name, const std::string& uid, std::optional<int> grace);

  /// Somebody else's pod, bound at once.
  void occupy(const std::string& node, std::int64_t cores, const std::string& name = "stranger");
  /// A container ends by itself.
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
  std::int64_t used(const std::string& node) const;

  std::set<std::string> started_;  // uids of pods whose container has run
  std::set<std::string> trains_;   // uids of launchers
  int next_uid_ = 1, next_ip_ = 1;
};

inline std::string label_of(const json& pod, const char* label) {
  return pod.at("metadata").value("labels", json::object()).value(label, "");
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
  is_changed = true;
  if (kind != Kind::kPod) {
    EXPECT_TRUE(objects.emplace(std::pair(kind, name), object).second) << name << " exists already";
    return;
  }
  object["status"] = {{"phase", "Pending"}};
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
  is_changed = true;
}

inline void FakeCluster::patch_object(Kind kind, const std::string& name, const json& patch) {
  json& object = objects.at({kind, name});
  object = object.patch(patch);
  is_changed = true;
}

inline void FakeCluster::remove(Kind kind, const std::string& name, const std::string& uid,
                                std::optional<int> grace) {
  if (kind != Kind::kPod) {
    const auto found = objects.find({kind, name});
    ASSERT_TRUE(found != objects.end()) << name;
    ASSERT_EQ(found->second.at("metadata").at("uid"), uid);
    objects.erase(found);
    is_changed = true;
    return;
  }
  ASSERT_TRUE(pods.contains(name)) << name;
  json& pod = pods.at(name);
  ASSERT_EQ(pod.at("metadata").at("uid"), uid);
  is_changed = true;
  const int seconds = grace.value_or(pod.at("spec").value("terminationGracePeriodSeconds", 30));
  if (node_of(pod).empty() || seconds == 0) {
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
  is_changed = true;
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
  return state;
}

inline Snapshot FakeCluster::snapshot() const {
  Snapshot snapshot;
  for (const auto& [name, node] : nodes) snapshot.nodes.push_back(state_of_node(name));
  for (const auto& [name, pod] : pods) snapshot.pods.push_back(pod_state(pod));
  return snapshot;
}

inline std::int64_t FakeCluster::used(const std::string& node) const {
  std::int64_t cores = 0;
  for (const auto& [name, pod] : pods)
    if (node_of(pod) == node && phase_of(pod) != "Failed" && phase_of(pod) != "Succeeded")
      cores += requests_of(pod.at("spec")).of("cpu");
  return cores;
}

inline void FakeCluster::refuse_place(json& pod, const std::string& why) {
  const json condition = {
      {"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", why}};
  is_changed |= pod["status"].value("conditions", json()) != json::array({condition});
  pod["status"]["conditions"] = json::array({condition});
}

inline void FakeCluster::schedule(json& pod) {
  const json& spec = pod.at("spec");
  if (!node_of(pod).empty() || !spec.value("schedulingGates", json::array()).empty()) return;
  if (const auto hindrance = hinder(pod)) {
    if (!hindrance->empty()) refuse_place(pod, *hindrance);
    return;
  }
  const NodeFilter filter = NodeFilter::of_template(pod.dump());
  for (const auto& [name, node] : nodes) {
    if (!filter.refusal(state_of_node(name)).empty()) continue;
    if (used(name) + requests_of(spec).of("cpu") > node.cores) continue;
    pod["spec"]["nodeName"] = name;
    is_changed = true;
    return;
  }
  refuse_place(pod, "no node has 3 cpu");
}

inline void FakeCluster::begin(const std::string& name, json& pod) {
  const FakeNode& node = nodes.at(node_of(pod));
  json& status = pod["status"];
  is_changed = true;
  if (node.rejects) {
    status = {{"phase", "Failed"}, {"reason", "OutOfcpu"}, {"message", "Pod was rejected: not enough cpu"}};
    return;
  }
  if (!node.pulls_images) {
    const json waiting = {{"reason", "ImagePullBackOff"}, {"message", "no such image"}};
    is_changed = !status.contains("containerStatuses");
    status["containerStatuses"] = json::array({{{"name", kEngine}, {"state", {{"waiting", waiting}}}}});
    return;
  }
  status["phase"] = "Running";
  status["podIP"] = network + std::to_string(next_ip_++);
  status["conditions"] = json::array({{{"type", "Ready"}, {"status", "True"}}});
  status["containerStatuses"] = json::array({{{"name", kEngine}, {"state", {{"running", json::object()}}}}});
  if (label_of(pod, kRoleLabel) == kLauncherRole) begin_training(name, pod);
  if (label_of(pod, kRoleLabel) == kPrepareRole) ++prepares;
}

/// What must be true when a launcher is let go.
inline void FakeCluster::check_gang(const std::string& name, const json& pod) const {
  const std::string job = label_of(pod, kJobLabel);
  const auto map =
      objects.find({Kind::kConfigMap, attempt_map_name(job, std::stoi(label_of(pod, kAttemptLabel)))});
  ASSERT_TRUE(map != objects.end()) << name << ": nobody says where the ranks are";
  const json told = json::parse(map->second.at("data").at("attempt.json").get<std::string>());
  for (const json& server : told.at("servers")) {
    const std::string worker = server.at("pod");
    ASSERT_TRUE(is_running(worker)) << name << ": the gang is not whole, " << worker << " isn't there";
    EXPECT_FALSE(pods.at(worker).at("metadata").contains("deletionTimestamp")) << worker;
    EXPECT_EQ(server.at("address"), pods.at(worker).at("status").at("podIP"));
    EXPECT_EQ(server.at("node"), node_of(pods.at(worker)));
  }
  for (const std::string& other : pods_of(job, kLauncherRole))
    EXPECT_TRUE(other == name || !is_running(other) || nodes.at(node_of(pods.at(other))).is_dead)
        << name << " and " << other << " at once";
}

/// What must be true when a launcher starts.
inline void FakeCluster::begin_training(const std::string& name, const json& pod) {
  Run& run = runs[label_of(pod, kJobLabel)];
  const int attempt = std::stoi(label_of(pod, kAttemptLabel));
  EXPECT_GT(attempt, run.newest_attempt) << name << ": an attempt that was fenced off";
  const json& job = objects.at({Kind::kJob, label_of(pod, kJobLabel)});
  EXPECT_FALSE(has_ended(read_status(job.value("status", json::object())).conditions))
      << name << ": the job has ended";
  run.newest_attempt = attempt;
  ++run.launches;
  run.seconds_done = run.checkpoint;
  trains_.insert(pod.at("metadata").at("uid"));
}

inline void FakeCluster::train(const std::string& name, json& pod) {
  const std::string job = label_of(pod, kJobLabel);
  Run& run = runs[job];
  const int attempt = std::stoi(label_of(pod, kAttemptLabel));
  const auto map = objects.find({Kind::kConfigMap, attempt_map_name(job, attempt)});
  if (map != objects.end()) {
    const json told = json::parse(map->second.at("data").at("attempt.json").get<std::string>());
    for (const json& server : told.at("servers")) {
      const std::string worker = server.at("pod");
      const bool is_there = is_running(worker) && !nodes.at(node_of(pods.at(worker))).is_dead;
      if (is_there) continue;
      const json message = {
          {"status", 1},
          {"culprit", {{"rank", server.at("ranks").at(0)}, {"pod", worker}, {"node", server.at("node")}}}};
      return end_pod(name, 1, "Error", message.dump());
    }
  }
  if (attempt < run.newest_attempt)
    return end_pod(name, 1, "Error", R"({"status":1,"message":"fenced off"})");
  if (run.completions == 0) {  // else the output folder says that there is nothing left to do
    ++run.seconds_done;
    if (run.seconds_done % training.checkpoint_every == 0) run.checkpoint = run.seconds_done;
    if (run.seconds_done < training.seconds) return;
    ++run.completions;
  }
  end_pod(name, 0, "Completed",
          R"({"status":0,"result":{"outcome":"completed","test":0.81,"bestEpoch":140,"epochs":200}})");
}

inline void FakeCluster::evict_from_dead_nodes(json& pod) {
  const FakeNode& node = nodes.at(node_of(pod));
  const bool tolerates = label_of(pod, kJobLabel).empty();
  if (tolerates || now - node.since < Seconds(30) || pod.at("metadata").contains("deletionTimestamp")) return;
  pod["metadata"]["deletionTimestamp"] =
      text_of(now + Seconds(pod.at("spec").value("terminationGracePeriodSeconds", 30)));
  is_changed = true;
}

/// A deleted pod on a living node: its processes have a second, a launcher writes a checkpoint; then it is gone.
inline bool FakeCluster::take_away(const std::string& name, json& pod) {
  if (!pod.at("metadata").contains("deletionTimestamp")) return false;
  is_changed = true;
  if (phase_of(pod) != "Running") return true;
  if (label_of(pod, kRoleLabel) == kLauncherRole) {
    Run& run = runs[label_of(pod, kJobLabel)];
    run.checkpoint = run.seconds_done;
    end_pod(name, 130, "Error", R"({"status":130})");
  } else {
    end_pod(name, 143, "Error", "");
  }
  return false;
}

inline void FakeCluster::live(const std::string& name, json& pod) {
  const std::string uid = pod.at("metadata").at("uid"), role = label_of(pod, kRoleLabel);
  if (phase_of(pod) == "Pending")
    begin(name, pod);
  else if (phase_of(pod) == "Running" && role == kLauncherRole && trains_.contains(uid))
    train(name, pod);
  else if (phase_of(pod) == "Running" && role == kPrepareRole)
    end_pod(name, does_prepare_fail ? 1 : 0, "Completed", "");
}

inline void FakeCluster::tick() {
  now += Seconds(1);
  if (others) others();
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods) names.push_back(name);
  for (const std::string& name : names) {
    json& pod = pods.at(name);
    if (node_of(pod).empty()) {
      schedule(pod);
    } else if (nodes.at(node_of(pod)).is_dead) {
      evict_from_dead_nodes(pod);
    } else if (take_away(name, pod)) {
      pods.erase(name);
    } else if (!pod.at("metadata").contains("deletionTimestamp")) {
      live(name, pod);
    }
  }
}

}  // namespace atl::ctl
