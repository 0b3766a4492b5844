#include "operator_controller/fake_kueue.h"

#include <gtest/gtest.h>

#include "operator/objects/names.h"
#include "operator/plan/snapshot.h"

namespace atl::ctl {

namespace {

/// Whether one of the Workload's pods keeps its assigned node from being replaced.
bool keeps(const json& pod, const std::string& workload, const std::string& node) {
  const json& metadata = pod.at("metadata");
  return metadata.value("annotations", json::object()).value(kWorkloadAnnotation, "") == workload &&
         node_of(pod) == node && !metadata.contains("deletionTimestamp") && phase_of(pod) != "Failed" &&
         phase_of(pod) != "Succeeded";
}

}  // namespace

FakeKueue::FakeKueue(FakeCluster& cluster) : cluster_(cluster) {
  cluster_.others = [this, before = cluster_.others] {
    if (before) before();
    tick();
  };
}

json& FakeKueue::workload(const std::string& job) {
  return cluster_.objects.at({Kind::kWorkload, workload_name(job)});
}

bool FakeKueue::has_workload(const std::string& job) const {
  return cluster_.objects.contains({Kind::kWorkload, workload_name(job)});
}

void FakeKueue::evict(const std::string& job, const std::string& reason) {
  if (!has_workload(job) || !holds(read(job).conditions, kAdmitted)) return;
  say(workload(job), kEvicted, true, reason, "to make room for others");
}

std::int64_t cores_of(const json& workload) {
  std::int64_t cores = 0;
  for (const json& set : workload.at("spec").at("podSets"))
    cores += set.at("count").get<int>() * requests_of(set.at("template").at("spec")).of("cpu");
  return cores;
}

void FakeKueue::say(json& object, const char* type, bool holds, const std::string& reason,
                    const std::string& message) {
  json& conditions = object["status"]["conditions"];
  if (!conditions.is_array()) conditions = json::array();
  const json condition = {{"type", type},
                          {"status", holds ? "True" : "False"},
                          {"reason", reason},
                          {"message", message},
                          {"lastTransitionTime", text_of(cluster_.now)}};
  cluster_.touch(Kind::kWorkload, object.at("metadata").at("name"));
  for (json& old : conditions)
    if (old.at("type") == type) {
      old = condition;
      return;
    }
  conditions.push_back(condition);
}

json topology_assignment(const std::map<std::string, int>& pods, const std::string& lowest_level) {
  json roots = json::array(), counts = json::array();
  for (const auto& [node, count] : pods) {
    roots.push_back(node);
    counts.push_back(count);
  }
  json values, slice, assignment;
  values["individual"]["roots"] = roots;
  slice["domainCount"] = pods.size();
  slice["valuesPerLevel"] = json::array({values});
  slice["podCounts"]["individual"] = counts;
  assignment["levels"] = json::array({lowest_level});
  assignment["slices"] = json::array({slice});
  return assignment;
}

void FakeKueue::admit(json& object) {
  json assigned = json::array();
  for (const json& set : object.at("spec").at("podSets")) {
    json assignment = {{"name", set.at("name")}, {"count", set.at("count")}, {"flavors", {{"cpu", flavor}}}};
    if (const auto nodes = assigns.find(set.at("name").get<std::string>()); nodes != assigns.end())
      assignment["topologyAssignment"] = topology_assignment(nodes->second, lowest_level);
    assigned.push_back(assignment);
  }
  object["status"]["admission"] = {{"clusterQueue", "team"}, {"podSetAssignments", assigned}};
  say(object, kQuotaReserved, true, "QuotaReserved", "quota reserved in ClusterQueue team");
  say(object, kAdmitted, true, "Admitted", "admitted by ClusterQueue team");
  if (holds(read_workload(object).conditions, kEvicted))
    say(object, kEvicted, false, "QuotaReserved", "previously: preempted");
}

std::int64_t FakeKueue::used() {
  std::int64_t all = 0;
  for (const auto& [key, object] : cluster_.objects) {
    if (key.first != Kind::kWorkload) continue;
    const Workload seen = read_workload(object);
    if (seen.has_admission && !holds(seen.conditions, kFinished)) all += cores_of(object);
  }
  return all;
}

std::string pin_of(const json& pod) {
  return pod.at("spec").value("nodeSelector", json::object()).value(kHostnameLabel, "");
}

/// Counts pods on their way out as well, because their room isn't free yet.
void FakeKueue::check_pods() const {
  for (const auto& [name, pod] : cluster_.pods) {
    const std::string job = label_of(pod, kJobLabel);
    const auto found = cluster_.objects.find({Kind::kJob, job});
    if (found == cluster_.objects.end() || label_of(found->second, kQueueLabel).empty()) continue;
    if (phase_of(pod) == "Succeeded" || phase_of(pod) == "Failed") continue;
    const auto place = cluster_.objects.find({Kind::kWorkload, workload_name(job)});
    ASSERT_TRUE(place != cluster_.objects.end()) << name << " has no place in the queue";
    const Workload seen = read_workload(place->second);
    EXPECT_TRUE(seen.has_admission && !holds(seen.conditions, kFinished)) << name << " has no quota";
    const std::string pin = pin_of(pod);
    const bool is_marked = !label_of(pod, kPodSetLabel).empty();
    EXPECT_TRUE(is_marked || pin.empty()) << name << " is counted twice";
    if (!is_marked || node_of(pod).empty() || label_of(pod, kRoleLabel) == kPrepareRole) continue;
    EXPECT_EQ(pin, node_of(pod)) << name << ": the pin that Kueue reads";
  }
}

void FakeKueue::move_from_lost_nodes(json& object) {
  const std::string name = object.at("metadata").at("name");
  for (json& set : object.at("status").at("admission").at("podSetAssignments")) {
    if (!set.contains("topologyAssignment") || spares.empty()) continue;
    auto& nodes = assigns.at(set.at("name").get<std::string>());
    for (const auto& [node, count] : std::map(nodes)) {
      const auto known = cluster_.nodes.find(node);
      const bool is_gone = known == cluster_.nodes.end();
      const bool is_lost = is_gone || known->second.is_dead || known->second.is_cordoned;
      bool is_kept = false;
      for (const auto& [pod_name, pod] : cluster_.pods) is_kept |= keeps(pod, name, node);
      if (!is_lost || is_kept || spares.empty()) continue;
      nodes.erase(node);
      nodes[spares.back()] += count;
      spares.pop_back();
      set["topologyAssignment"] = topology_assignment(nodes, lowest_level);
      cluster_.is_changed = true;
    }
  }
}

/// Of workers that are pinned and not bound.
void FakeKueue::end_stray_pods() {
  const auto nodes = assigns.find(kWorkerPods);
  if (nodes == assigns.end()) return;
  for (auto& [name, pod] : cluster_.pods) {
    const std::string pin = pin_of(pod);
    if (label_of(pod, kPodSetLabel) != kWorkerPods || pin.empty() || !node_of(pod).empty()) continue;
    const auto node = cluster_.nodes.find(pin);
    const bool can_run = node != cluster_.nodes.end() && !node->second.is_dead && !node->second.is_cordoned;
    if ((can_run && nodes->second.contains(pin)) || phase_of(pod) == "Failed") continue;
    pod["status"]["phase"] = "Failed";
    pod["status"]["conditions"] = json::array({{{"type", "TerminatedByKueue"},
                                                {"status", "True"},
                                                {"reason", "UnschedulableOnAssignedNode"},
                                                {"message", "Pod terminated by Kueue NodeController"}}});
    cluster_.is_changed = true;
  }
}

void FakeKueue::tick() {
  check_pods();
  if (is_down) return;
  std::map<std::string, json*> by_age;
  for (auto& [key, object] : cluster_.objects)
    if (key.first == Kind::kWorkload)
      by_age[object.at("metadata").at("creationTimestamp").get<std::string>() + key.second] = &object;
  for (auto& [age, object] : by_age) {
    const Workload seen = read_workload(*object);
    if (is_admitted(seen)) {
      move_from_lost_nodes(*object);
      end_stray_pods();
    }
    if (seen.has_admission || holds(seen.conditions, kFinished)) continue;
    if (used() + cores_of(*object) <= cores)
      admit(*object);
    else if (!find_condition(seen.conditions, kQuotaReserved))
      say(*object, kQuotaReserved, false, "Pending", "insufficient unused quota for cpu in flavor " + flavor);
  }
}

}  // namespace atl::ctl
