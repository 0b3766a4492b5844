// What the objects of the soak's API server say of jobs and nodes, read by the test's own code: what takes
// room where, who waits for what, and for whom there is room.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "operator_run/soak_world.h"

namespace atl::ctl {

/// Thousandths, as pods here ask for cores: "1500m", "2".
inline std::int64_t cores_in(const std::string& text) {
  return text.ends_with("m") ? std::stoll(text) : 1000 * std::stoll(text);
}
inline std::int64_t requested_cores(const json& pod) {
  std::int64_t all = 0;
  for (const json& container : pod.at("spec").at("containers"))
    all += cores_in(container.at("resources").at("requests").at("cpu").get<std::string>());
  return all;
}
inline std::string annotation_of(const json& object, const char* name) {
  const json& metadata = object.at("metadata");
  const auto annotations = metadata.find("annotations");
  return annotations == metadata.end() ? "" : annotations->value(name, "");
}
inline bool is_ended(const json& pod) {
  return phase_of(pod) == "Succeeded" || phase_of(pod) == "Failed";
}
inline bool is_going(const json& object) {
  return object.at("metadata").contains("deletionTimestamp");
}
inline bool has_gate(const json& pod) {
  return !pod.at("spec").value("schedulingGates", json::array()).empty();
}

/// A condition as the object has it; `status` is "" where it has none of that type.
struct Said {
  std::string status, reason;
  Moment since{};
};
inline Said said(const json& job, const char* type) {
  const json status = job.value("status", json::object());
  for (const json& condition : status.value("conditions", json::array()))
    if (condition.at("type") == type)
      return {condition.at("status").get<std::string>(), condition.at("reason").get<std::string>(),
              parse_moment(condition.at("lastTransitionTime").get<std::string>()).value_or(Moment{})};
  return {};
}
inline bool is_over(const json& job) {
  return said(job, "Succeeded").status == "True" || said(job, "Failed").status == "True";
}
inline json status_of(const json& job) {
  return job.value("status", json::object());
}

/// What a node's pods take.
struct NodeUse {
  std::int64_t bound = 0;     // thousandths of cores
  std::int64_t promised = 0;  // to pods that aren't bound and have the node by a pin or by their job's plan
  int pods = 0;               // both

  std::int64_t all() const { return bound + promised; }
};

/// The node that a pod which isn't bound is to have, or "".
inline std::string promised_node(const json& pod, const SoakWorld& world) {
  const auto job = world.cluster.objects.find({Kind::kJob, label_of(pod, kJobLabel)});
  if (job == world.cluster.objects.end()) return {};
  if (job->second.at("metadata").at("uid") != pod.at("metadata").at("ownerReferences").at(0).at("uid"))
    return {};
  if (const std::string node = annotation_of(pod, kPinnedAnnotation); !node.empty()) return node;
  const bool is_planned = said(job->second, "Placed").status == "True";
  if (!is_planned || !has_gate(pod) || label_of(pod, kRoleLabel) != kWorkerRole) return {};
  const json placement = status_of(job->second).value("placement", json::object());
  const json servers = placement.value("servers", json::array());
  const auto server = std::stoul(label_of(pod, kServerLabel));
  return server < servers.size() ? servers.at(server).at("node").get<std::string>() : "";
}

/// By node. `with_prepare`: with pods of the prepare step, for which nothing is planned.
inline std::map<std::string, NodeUse> uses_of(const SoakWorld& world, bool with_prepare) {
  std::map<std::string, NodeUse> uses;
  for (const auto& [name, pod] : world.cluster.pods) {
    if (is_ended(pod) || (!with_prepare && label_of(pod, kRoleLabel) == kPrepareRole)) continue;
    const bool is_bound = !node_of(pod).empty();
    const std::string node = is_bound ? node_of(pod) : promised_node(pod, world);
    if (node.empty()) continue;
    NodeUse& use = uses[node];
    (is_bound ? use.bound : use.promised) += requested_cores(pod);
    ++use.pods;
  }
  return uses;
}

/// Jobs that have had no room: whether there is some, and for whom first.
class RoomCheck {
 public:
  explicit RoomCheck(const SoakWorld& world) : world_(world) {
    const auto uses = uses_of(world, true);
    for (const auto& [name, node] : world.cluster.nodes) {
      if (!world.is_usable(name)) continue;
      const auto use = uses.find(name);
      free_[name] = node.cores - (use == uses.end() ? 0 : use->second.all());
    }
  }

  static bool has_no_room(const json& job) {
    const Said placed = said(job, "Placed");
    return placed.status == "False" && placed.reason == "NoRoom";
  }
  /// Whether no job that could ever fit, and for which room may be kept, comes before it.
  bool is_first(const SoakJob& job, const json& object) const {
    for (const auto& [name, other] : world_.jobs) {
      const auto found = world_.cluster.objects.find({Kind::kJob, name});
      if (name == job.name || found == world_.cluster.objects.end() || other.never_fits) continue;
      const json& theirs = found->second;
      if (has_no_room(theirs) && !is_over(theirs) && order_of(other, theirs) < order_of(job, object) &&
          world_.cluster.now - said(theirs, "Placed").since >= Seconds(240))
        return false;
    }
    return true;
  }
  /// Whether all its servers would fit now, each beside a launcher: so this may be false where there is just
  /// enough room.
  bool is_ample(const SoakJob& job, const json& object) const {
    std::set<std::string> avoided;  // nodes on which it failed
    for (const json& restart : status_of(object).value("restarts", json::array()))
      avoided.insert(restart.value("culprit", json::object()).value("node", ""));
    std::map<std::string, std::int64_t> by_rack;
    std::int64_t all = 0;
    for (const auto& [name, left] : free_) {
      const auto& labels = world_.cluster.nodes.at(name).labels;
      if (avoided.contains(name) || (!job.zone.empty() && labels.at("zone") != job.zone)) continue;
      const std::int64_t servers = std::max<std::int64_t>(0, (left - 100) / job.cores);
      by_rack[labels.at("rack")] += servers;
      all += servers;
    }
    if (!job.is_within_rack || job.is_preferred) return all >= job.servers;
    return std::ranges::any_of(by_rack, [&](const auto& rack) { return rack.second >= job.servers; });
  }

 private:
  static std::tuple<int, std::string, std::string> order_of(const SoakJob& job, const json& object) {
    return {job.is_urgent ? -1000 : 0, object.at("metadata").at("creationTimestamp").get<std::string>(),
            "team/" + job.name};
  }

  const SoakWorld& world_;
  std::map<std::string, std::int64_t> free_;  // thousandths, of nodes that may be used
};

/// What a job that isn't over waits for, and how long that may take at most.
struct SoakWait {
  std::string what;  // "": nobody could say
  Seconds most = Seconds::max();
};

inline SoakWait wait_while_suspended(const json& job, const Said& suspended, const SoakWorld& world) {
  if (suspended.reason == "Suspended") {
    const bool is_wished = job.at("spec").at("runPolicy").at("suspend").get<bool>();
    return is_wished ? SoakWait{"its user"} : SoakWait{"to be resumed", Seconds(900)};
  }
  if (suspended.reason == "QueueRefused" || suspended.reason == "NameTaken")
    return {"a place in its queue", Seconds(1800)};
  if (suspended.reason != "Queued" && suspended.reason != "Evicted") return {""};
  const std::string name = job.at("metadata").at("name");
  const bool is_admitted =
      world.queue.has_workload(name) &&
      said(world.cluster.objects.at({Kind::kWorkload, workload_name(name)}), "Admitted").status == "True";
  return is_admitted && suspended.reason == "Queued" ? SoakWait{"to be resumed", Seconds(900)}
                                                     : SoakWait{"its queue"};
}

inline SoakWait wait_of(const json& job, const SoakWorld& world) {
  const Said created = said(job, "Created"), placed = said(job, "Placed"), running = said(job, "Running"),
             suspended = said(job, "Suspended");
  if (is_going(job)) return {"what it owns to go", Seconds(3600)};
  if (status_of(job).value("conditions", json::array()).empty()) return {"a first look", Seconds(900)};
  if (suspended.status == "True") return wait_while_suspended(job, suspended, world);
  if (created.status == "False" && created.reason == "Refused") return {"the API server", Seconds(3000)};
  if (created.status == "False" && created.reason == "NameTaken") return {"its name", Seconds(1800)};
  if (placed.reason == "NoRoom" || placed.reason == "Unschedulable") return {"room"};
  static const std::map<std::string, Seconds> kNotPlaced = {
      {"", Seconds(1200)},         {"Preparing", Seconds(1500)}, {"Withdrawn", Seconds(1800)},
      {"NotBound", Seconds(1800)}, {"Replacing", Seconds(1800)}, {"Suspended", Seconds(900)}};
  if (placed.status != "True") {
    const auto known = kNotPlaced.find(placed.reason);
    return known == kNotPlaced.end() ? SoakWait{""} : SoakWait{"Placed: " + placed.reason, known->second};
  }
  if (running.status == "True") return {"its ranks", Seconds(3600)};
  if (suspended.reason == "Suspending") return {"its pods to go", Seconds(2400)};
  return {"Running: " + running.reason, Seconds(2400)};
}

}  // namespace atl::ctl
