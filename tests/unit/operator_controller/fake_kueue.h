// Kueue as jobs see it: one queue with room for so many cores, first come, first served. It checks every
// second that no pod exists without an admission, and that an evicted job's room is reused only once it is
// given back.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operator/api/workload.h"
#include "operator/plan/snapshot.h"
#include "operator_controller/fake_cluster.h"

namespace atl::ctl {

class FakeKueue {
 public:
  explicit FakeKueue(FakeCluster& cluster) : cluster_(cluster) {
    cluster_.others = [this, before = cluster_.others] {
      if (before) before();
      tick();
    };
  }

  std::int64_t cores = 8000;  // in thousandths
  bool is_down = false;
  std::string flavor = "on-demand";

  json& workload(const std::string& job = "cora") {
    return cluster_.objects.at({Kind::kWorkload, workload_name(job)});
  }
  bool has_workload(const std::string& job = "cora") const {
    return cluster_.objects.contains({Kind::kWorkload, workload_name(job)});
  }
  Workload read(const std::string& job = "cora") { return read_workload(workload(job)); }

  void evict(const std::string& job = "cora", const std::string& reason = "Preempted") {
    if (!has_workload(job) || !holds(read(job).conditions, kAdmitted)) return;
    say(workload(job), kEvicted, true, reason, "to make room for others");
  }

 private:
  void tick();
  void check_pods() const;
  void admit(json& object);
  std::int64_t used();
  void say(json& object, const char* type, bool holds, const std::string& reason, const std::string& message);

  FakeCluster& cluster_;
};

inline std::int64_t cores_of(const json& workload) {
  std::int64_t cores = 0;
  for (const json& set : workload.at("spec").at("podSets"))
    cores += set.at("count").get<int>() * requests_of(set.at("template").at("spec")).of("cpu");
  return cores;
}

inline void FakeKueue::say(json& object, const char* type, bool holds, const std::string& reason,
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

inline void FakeKueue::admit(json& object) {
  json assigned = json::array();
  for (const json& set : object.at("spec").at("podSets"))
    assigned.push_back(
        {{"name", set.at("name")}, {"count", set.at("count")}, {"flavors", {{"cpu", flavor}}}});
  object["status"]["admission"] = {{"clusterQueue", "team"}, {"podSetAssignments", assigned}};
  say(object, kQuotaReserved, true, "QuotaReserved", "quota reserved in ClusterQueue team");
  say(object, kAdmitted, true, "Admitted", "admitted by ClusterQueue team");
  if (holds(read_workload(object).conditions, kEvicted))
    say(object, kEvicted, false, "QuotaReserved", "previously: preempted");
}

inline std::int64_t FakeKueue::used() {
  std::int64_t all = 0;
  for (const auto& [key, object] : cluster_.objects) {
    if (key.first != Kind::kWorkload) continue;
    const Workload seen = read_workload(object);
    if (seen.has_admission && !holds(seen.conditions, kFinished)) all += cores_of(object);
  }
  return all;
}

/// Counts pods on their way out as well, because their room isn't free yet.
inline void FakeKueue::check_pods() const {
  for (const auto& [name, pod] : cluster_.pods) {
    const std::string job = label_of(pod, kJobLabel);
    const auto found = cluster_.objects.find({Kind::kJob, job});
    if (found == cluster_.objects.end() || label_of(found->second, kQueueLabel).empty()) continue;
    if (phase_of(pod) == "Succeeded" || phase_of(pod) == "Failed") continue;
    const auto place = cluster_.objects.find({Kind::kWorkload, workload_name(job)});
    ASSERT_TRUE(place != cluster_.objects.end()) << name << " has no place in the queue";
    const Workload seen = read_workload(place->second);
    EXPECT_TRUE(seen.has_admission && !holds(seen.conditions, kFinished)) << name << " has no quota";
  }
}

inline void FakeKueue::tick() {
  check_pods();
  if (is_down) return;
  std::map<std::string, json*> by_age;
  for (auto& [key, object] : cluster_.objects)
    if (key.first == Kind::kWorkload)
      by_age[object.at("metadata").at("creationTimestamp").get<std::string>() + key.second] = &object;
  for (auto& [age, object] : by_age) {
    const Workload seen = read_workload(*object);
    if (seen.has_admission || holds(seen.conditions, kFinished)) continue;
    if (used() + cores_of(*object) <= cores)
      admit(*object);
    else if (!find_condition(seen.conditions, kQuotaReserved))
      say(*object, kQuotaReserved, false, "Pending", "insufficient unused quota for cpu in flavor " + flavor);
  }
}

}  // namespace atl::ctl
