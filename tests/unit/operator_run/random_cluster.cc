#include "operator_run/random_cluster.h"

#include <cstdlib>

namespace atl::ctl {

RandomCluster::RandomCluster(unsigned seed) : random_(seed) {}

void RandomCluster::happen() {
  switch (draw(12)) {
    case 0:
      return put_node();
    case 1:
      return draw(2) ? remove_node() : put_node();
    case 2:
    case 3:
    case 4:
      return put_other_pod();
    case 5:
      return remove_other_pod();
    case 6:
      return put_job();
    case 7:
      return remove_job();
    case 8:
    case 9:
      return put_job_pod();
    case 10:
      return draw(2) ? remove_job_pod() : book();
    default:
      return draw(2) ? cancel() : move_on();
  }
}

Snapshot RandomCluster::counted() const {
  Snapshot all;
  for (const auto& [name, node] : nodes_) all.nodes.push_back(node_state(node));
  for (const auto& [name, pod] : others_) all.pods.push_back(pod_state(pod));
  auto booked = booked_;
  for (const auto& [name, pod] : job_pods_) {
    PodState state = pod_state(pod);
    const std::string owner = owner_of(pod);
    if (owner.empty()) state.pinned.clear();
    if (!owner.empty() && state.where().empty()) state.pinned = planned(name, owner, pod);
    state.job = owner;
    booked.erase(name);
    if (!state.where().empty()) all.pods.push_back(state);
  }
  for (const auto& [name, booking] : booked) {
    PodState state;
    state.pinned = booking.second.node;
    state.job = booking.first;
    state.requests = booking.second.requests;
    all.pods.push_back(state);
  }
  return all;
}

json RandomCluster::requests() {
  const json amounts = {{"cpu", std::to_string(100 * (1 + draw(40))) + "m"},
                        {"memory", std::to_string(1 + draw(8)) + "Gi"}};
  json container = {{"resources", {{"requests", amounts}}}};
  if (draw(3) == 0) container["resources"]["requests"]["nvidia.com/gpu"] = "1";
  return json::array({container});
}

kube::Store& RandomCluster::store(const std::string& plural, bool of_others) {
  for (const Feed& feed : caches_.feeds())
    if (feed.path.ends_with("/" + plural) && feed.only.fields.empty() != of_others) return *feed.store;
  std::abort();
}

void RandomCluster::put(kube::Store& store, json& object) {
  object["metadata"]["resourceVersion"] = std::to_string(++versions_);
  store.put(object.dump());
}

json RandomCluster::named(const std::string& name, const std::string& space) {
  return {{"metadata", {{"name", name}, {"namespace", space}, {"uid", name + "'s"}}}};
}

void RandomCluster::put_node() {
  const std::string name = node_name();
  json node = named(name);
  if (draw(5)) node["metadata"]["labels"]["rack"] = "r" + std::to_string(draw(3));
  node["spec"]["unschedulable"] = draw(10) == 0;
  node["status"] = {
      {"allocatable", {{"cpu", 8 + draw(2)}, {"memory", "64Gi"}, {"pods", "110"}, {"nvidia.com/gpu", 2}}},
      {"conditions", json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  put(store("nodes"), node);
  nodes_[name] = node;
}

void RandomCluster::remove_node() {
  if (nodes_.empty()) return;
  const auto gone = any(nodes_);
  store("nodes").remove(gone->second.dump());
  nodes_.erase(gone);
}

void RandomCluster::put_other_pod() {
  const std::string name = "app-" + std::to_string(draw(40));
  json pod = named(name, "web");
  pod["spec"] = {{"nodeName", node_name()}, {"containers", requests()}};
  if (draw(4) == 0)
    pod["metadata"]["ownerReferences"] = json::array({{{"kind", "DaemonSet"}, {"name", "agent"}}});
  put(store("pods", true), pod);
  others_[name] = pod;
}

void RandomCluster::remove_other_pod() {
  if (others_.empty()) return;
  const auto gone = any(others_);
  store("pods", true).remove(gone->second.dump());
  others_.erase(gone);
}

void RandomCluster::put_job() {
  const std::string name = job_name();
  json job = sample_job_json({{"/metadata/name", name}, {"/metadata/uid", "uid of " + name}});
  Status status;
  const bool is_placed = draw(2) == 0;
  status.conditions = {{kPlaced, is_placed, is_placed ? "Planned" : "NoRoom", "", Moment{}, 1},
                       {kCreated, true, "Made", "", Moment{}, 1}};
  for (int s = 0; s < 3 && is_placed; ++s) status.servers.push_back({node_name(), {s}});
  job["status"] = parse_json(write_status(status));
  put(store("gnnjobs"), job);
  jobs_[name] = job;
}

void RandomCluster::remove_job() {
  if (jobs_.empty()) return;
  const auto gone = any(jobs_);
  store("gnnjobs").remove(gone->second.dump());
  jobs_.erase(gone);
}

void RandomCluster::put_job_pod() {
  const std::string job = job_name();
  const int server = draw(3);
  const std::string name = job + "-" + std::to_string(server) + "-0";
  json pod = named(name, "team");
  pod["metadata"]["labels"] = {{kJobLabel, job},
                               {kManagedByLabel, kManager},
                               {kRoleLabel, kWorkerRole},
                               {kServerLabel, std::to_string(server)}};
  const std::string owner = draw(6) ? "uid of " + job : "forged";
  pod["metadata"]["ownerReferences"] =
      json::array({{{"kind", "GNNJob"}, {"uid", owner}, {"controller", true}}});
  pod["spec"]["containers"] = requests();
  if (draw(2)) pod["spec"]["schedulingGates"] = json::array({{{"name", kGate}}});
  if (draw(3) == 0) pod["metadata"]["annotations"][kPinnedAnnotation] = node_name();
  if (draw(3) == 0) pod["spec"]["nodeName"] = node_name();
  pod["status"]["phase"] = draw(8) ? "Pending" : "Succeeded";
  if (const auto before = job_pods_.find("team/" + name); before != job_pods_.end()) remove(before);
  put(store("pods"), pod);
  job_pods_["team/" + name] = pod;
}

void RandomCluster::remove(std::map<std::string, json>::iterator pod) {
  store("pods").remove(pod->second.dump());
  booked_.erase(pod->first);
  job_pods_.erase(pod);
}

void RandomCluster::remove_job_pod() {
  if (!job_pods_.empty()) remove(any(job_pods_));
}

void RandomCluster::book() {
  const std::string job = job_name(), pod = job + "-" + std::to_string(draw(3)) + "-0";
  const Booking booking{node_name(), Resources({{"cpu", 1000 * (1 + draw(4))}})};
  caches_.room().book("team/" + job, {{pod, booking}});
  booked_["team/" + pod] = {"team/" + job, booking};
}

void RandomCluster::cancel() {
  const std::string job = any_job(), kept = job.substr(5) + "-" + std::to_string(draw(3)) + "-0";
  caches_.room().cancel(job, {kept});
  std::erase_if(booked_,
                [&](const auto& one) { return one.second.first == job && one.first != "team/" + kept; });
}

void RandomCluster::move_on() {
  if (job_pods_.empty()) return;
  auto& [name, pod] = *any(job_pods_);
  if (draw(2))
    pod["status"]["phase"] = "Failed";
  else
    pod["spec"]["nodeName"] = node_name();
  put(store("pods"), pod);
}

std::string RandomCluster::owner_of(const json& pod) const {
  const std::string job = pod["metadata"]["labels"][kJobLabel];
  const bool is_own = pod["metadata"]["ownerReferences"][0]["uid"] == "uid of " + job;
  return is_own && jobs_.contains(job) ? "team/" + job : "";
}

std::string RandomCluster::planned(const std::string& name, const std::string& owner, const json& pod) const {
  if (const auto booking = booked_.find(name); booking != booked_.end() && booking->second.first == owner)
    return booking->second.second.node;
  const json& status = jobs_.at(owner.substr(5)).at("status");
  const auto server = std::stoul(pod["metadata"]["labels"][kServerLabel].get<std::string>());
  const bool is_placed = status["conditions"][0]["status"] == "True";
  if (!pod["spec"].contains("schedulingGates") || !is_placed) return {};
  return read_status(status).servers.at(server).node;
}

}  // namespace atl::ctl
