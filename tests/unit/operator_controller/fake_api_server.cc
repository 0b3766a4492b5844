// The API server of the fake cluster: what makes, changes and removes its objects, and what they look like.
#include "operator_controller/fake_cluster.h"

#include <gtest/gtest.h>

#include <utility>

namespace atl::ctl {

std::string label_of(const json& pod, const char* label) {
  const json& metadata = pod.at("metadata");
  const auto labels = metadata.find("labels");
  return labels == metadata.end() ? "" : labels->value(label, "");
}
std::string node_of(const json& pod) {
  return pod.at("spec").value("nodeName", "");
}
std::string phase_of(const json& pod) {
  return pod.at("status").value("phase", "Pending");
}

void FakeCluster::touch(Kind kind, const std::string& name) {
  changed.emplace(kind, name);
  is_changed = true;
}

void FakeCluster::touch_node(const std::string& name) {
  changed_nodes.insert(name);
  is_changed = true;
}

void FakeCluster::create(Kind kind, const std::string& name, json object) {
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

void FakeCluster::patch_pod(const std::string& name, const json& patch) {
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

void FakeCluster::patch_object(Kind kind, const std::string& name, const json& patch) {
  json& object = objects.at({kind, name});
  object = object.patch(patch);
  touch(kind, name);
}

void FakeCluster::remove(Kind kind, const std::string& name, const std::string& uid,
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

void FakeCluster::occupy(const std::string& node, std::int64_t cores, const std::string& name) {
  const json pod =
      parse_json(R"({"metadata": {"namespace": "other"}, "spec": {"containers": [{"name": "c"}]}})");
  create(Kind::kPod, name, pod);
  json& made = pods.at(name);
  made["metadata"]["name"] = name;
  made["spec"]["nodeName"] = node;
  made["spec"]["containers"][0]["resources"] = {{"requests", {{"cpu", std::to_string(cores) + "m"}}}};
  made["status"]["phase"] = "Running";
}

void FakeCluster::end_pod(const std::string& name, int exit_code, const std::string& reason,
                          const std::string& message) {
  json& status = pods.at(name)["status"];
  status["phase"] = exit_code == 0 ? "Succeeded" : "Failed";
  status["conditions"] = json::array({{{"type", "Ready"}, {"status", "False"}}});
  const json end = {{"exitCode", exit_code}, {"reason", reason}, {"message", message}};
  status["containerStatuses"] = json::array({{{"name", kEngine}, {"state", {{"terminated", end}}}}});
  trains_.erase(pods.at(name).at("metadata").at("uid").get<std::string>());
  touch(Kind::kPod, name);
}

std::string FakeCluster::findings_of(const std::string& pod) const {
  if (finds) return finds(pod);
  return R"({"preparedChecksum":"p","ranks":4,"flows":[[0,2,100],[1,3,50]])" + prepares_also + "}";
}

std::vector<std::string> FakeCluster::pods_of(const std::string& job, const std::string& role) const {
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods)
    if (label_of(pod, kJobLabel) == job && label_of(pod, kRoleLabel) == role) names.push_back(name);
  return names;
}

bool FakeCluster::is_running(const std::string& pod) const {
  return pods.contains(pod) && phase_of(pods.at(pod)) == "Running";
}

NodeState FakeCluster::state_of_node(const std::string& name) const {
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

Snapshot FakeCluster::snapshot() const {
  Snapshot snapshot;
  for (const auto& [name, node] : nodes) snapshot.nodes.push_back(state_of_node(name));
  for (const auto& [name, pod] : pods) snapshot.pods.push_back(pod_state(pod));
  return snapshot;
}

}  // namespace atl::ctl
