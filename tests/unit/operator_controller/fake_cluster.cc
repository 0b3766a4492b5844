#include "operator_controller/fake_cluster.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "operator/plan/node_filter.h"

namespace atl::ctl {

std::map<std::string, std::int64_t> FakeCluster::used() const {
  std::map<std::string, std::int64_t> cores;
  for (const auto& [name, pod] : pods)
    if (!node_of(pod).empty() && phase_of(pod) != "Failed" && phase_of(pod) != "Succeeded")
      cores[node_of(pod)] += requests_of(pod.at("spec")).of("cpu");
  return cores;
}

void FakeCluster::refuse_place(json& pod, const std::string& why) {
  json condition = {{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", "Unschedulable"},
                    {"message", why},
                    {"lastTransitionTime", text_of(now)}};
  for (const json& before : pod["status"].value("conditions", json::array()))
    condition["lastTransitionTime"] = before.value("lastTransitionTime", text_of(now));
  if (pod["status"].value("conditions", json()) != json::array({condition}))
    touch(Kind::kPod, pod.at("metadata").at("name"));
  pod["status"]["conditions"] = json::array({condition});
}

void FakeCluster::schedule(json& pod) {
  const json& spec = pod.at("spec");
  const bool has_gate = !spec.value("schedulingGates", json::array()).empty();
  if (!node_of(pod).empty() || has_gate || phase_of(pod) != "Pending") return;
  if (const auto hindrance = hinder(pod)) {
    if (!hindrance->empty()) refuse_place(pod, *hindrance);
    return;
  }
  const NodeFilter filter = NodeFilter::of_template(pod.dump());
  auto cores = used();
  for (const auto& [name, node] : nodes) {
    if (cores[name] + requests_of(spec).of("cpu") > node.cores) continue;
    if (!filter.refusal(state_of_node(name)).empty()) continue;
    pod["spec"]["nodeName"] = name;
    const json scheduled = {
        {"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", text_of(now)}};
    pod["status"]["conditions"] = json::array({scheduled});
    touch(Kind::kPod, pod.at("metadata").at("name"));
    return;
  }
  refuse_place(pod, "no node has 3 cpu");
}

void FakeCluster::begin(const std::string& name, json& pod) {
  const FakeNode& node = nodes.at(node_of(pod));
  json& status = pod["status"];
  if (node.rejects) {
    touch(Kind::kPod, name);
    status = {{"phase", "Failed"}, {"reason", "OutOfcpu"}, {"message", "Pod was rejected: not enough cpu"}};
    return;
  }
  if (!node.pulls_images) {
    const json waits = json::array({{{"name", kEngine}, {"state", {{"waiting", waits_for}}}}});
    if (status.value("containerStatuses", json()) != waits) touch(Kind::kPod, name);
    status["containerStatuses"] = waits;
    return;
  }
  touch(Kind::kPod, name);
  status["phase"] = "Running";
  status["podIP"] = network + std::to_string(next_ip_++);
  json conditions = json::array({{{"type", "Ready"}, {"status", "True"}}});
  for (const json& condition : status.value("conditions", json::array()))
    if (condition.value("type", "") == "PodScheduled") conditions.push_back(condition);
  status["conditions"] = std::move(conditions);
  status["containerStatuses"] =
      json::array({{{"name", kEngine}, {"state", {{"running", {{"startedAt", text_of(now)}}}}}}});
  if (label_of(pod, kRoleLabel) == kLauncherRole) begin_training(name, pod);
  if (label_of(pod, kRoleLabel) == kPrepareRole) ++prepares;
}

/// Checks what must be true when a launcher is released.
void FakeCluster::check_gang(const std::string& name, const json& pod) const {
  const std::string job = label_of(pod, kJobLabel);
  const auto map =
      objects.find({Kind::kConfigMap, attempt_map_name(job, std::stoi(label_of(pod, kAttemptLabel)))});
  if (is_seen_late) return;  // what it was decided on may be over
  ASSERT_TRUE(map != objects.end()) << name << ": nobody says where the ranks are";
  const json told = parse_json(map->second.at("data").at("attempt.json").get<std::string>());
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

/// Checks what must be true when a launcher starts.
void FakeCluster::begin_training(const std::string& name, const json& pod) {
  Run& run = runs[label_of(pod, kJobLabel)];
  const int attempt = std::stoi(label_of(pod, kAttemptLabel));
  EXPECT_GT(attempt, run.newest_attempt) << name << ": an attempt that was fenced off";
  const auto job = objects.find({Kind::kJob, label_of(pod, kJobLabel)});
  if (job != objects.end()) {  // else its pods go soon
    EXPECT_FALSE(has_ended(read_status(job->second.value("status", json::object())).conditions))
        << name << ": the job has ended";
  }
  run.newest_attempt = attempt;
  ++run.launches;
  run.seconds_done = run.checkpoint;
  trains_.insert(pod.at("metadata").at("uid"));
}

void FakeCluster::train(const std::string& name, json& pod) {
  const std::string job = label_of(pod, kJobLabel);
  Run& run = runs[job];
  const int attempt = std::stoi(label_of(pod, kAttemptLabel));
  const auto map = objects.find({Kind::kConfigMap, attempt_map_name(job, attempt)});
  if (map != objects.end()) {
    const json told = parse_json(map->second.at("data").at("attempt.json").get<std::string>());
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
  if (run.completions == 0) {  // else the output folder says that nothing is left to do
    const auto own = trainings.find(job);
    const FakeTraining& how = own == trainings.end() ? training : own->second;
    ++run.seconds_done;
    if (run.seconds_done % how.checkpoint_every == 0) run.checkpoint = run.seconds_done;
    if (run.seconds_done < how.seconds) return;
    ++run.completions;
  }
  end_pod(name, 0, "Completed",
          R"({"status":0,"result":{"outcome":"completed","test":0.81,"bestEpoch":140,"epochs":200}})");
}

void FakeCluster::evict_from_dead_nodes(json& pod) {
  const FakeNode& node = nodes.at(node_of(pod));
  const bool tolerates = label_of(pod, kJobLabel).empty();
  if (tolerates || now - node.since < Seconds(30) || pod.at("metadata").contains("deletionTimestamp")) return;
  pod["metadata"]["deletionTimestamp"] =
      text_of(now + Seconds(pod.at("spec").value("terminationGracePeriodSeconds", 30)));
  touch(Kind::kPod, pod.at("metadata").at("name"));
}

/// A deleted pod on a living node: its processes have a second, in which a launcher writes a checkpoint; then
/// the pod is gone.
bool FakeCluster::take_away(const std::string& name, json& pod) {
  if (!pod.at("metadata").contains("deletionTimestamp")) return false;
  if (stands_still.contains(name)) return false;
  touch(Kind::kPod, name);
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

void FakeCluster::live(const std::string& name, json& pod) {
  const std::string uid = pod.at("metadata").at("uid"), role = label_of(pod, kRoleLabel);
  if (phase_of(pod) == "Pending")
    begin(name, pod);
  else if (phase_of(pod) == "Running" && role == kLauncherRole && trains_.contains(uid))
    train(name, pod);
  else if (phase_of(pod) == "Running" && role == kPrepareRole && !does_prepare_hang)
    end_preparing(name);
}

void FakeCluster::end_preparing(const std::string& name) {
  if (does_prepare_fail) return end_pod(name, 1, prepare_reason, prepare_message);
  end_pod(name, 0, prepare_reason, are_findings_long ? "" : findings_of(name));
}

void FakeCluster::tick() {
  now += Seconds(1);
  if (others) others();
  std::vector<std::string> names;
  for (const auto& [name, pod] : pods) names.push_back(name);
  std::ranges::stable_partition(names, [this](const std::string& name) {
    return label_of(pods.at(name), kRoleLabel) !=
           kPlaceholderRole;  // the scheduler takes the urgent ones first
  });
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
