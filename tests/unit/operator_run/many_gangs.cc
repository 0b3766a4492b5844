#include "operator_run/many_gangs.h"

#include <cstdlib>

namespace atl::ctl {

ManyGangs::ManyGangs() = default;
ManyGangs::~ManyGangs() = default;

void ManyGangs::SetUp() {
  for (int n = 0; n < 10; ++n) put("nodes", node("n" + std::to_string(n)));
}

void ManyGangs::put(const std::string& plural, json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++versions_);
  if (!object["metadata"].contains("uid")) object["metadata"]["uid"] = "uid-" + std::to_string(versions_);
  store(plural).put(object.dump());
}

kube::Store& ManyGangs::store(const std::string& plural) {
  for (const Feed& feed : caches.feeds())
    if (feed.path.ends_with("/" + plural) && feed.only.fields.empty()) return *feed.store;
  ADD_FAILURE() << plural;
  std::abort();
}

void ManyGangs::remove_job(const std::string& name) {
  for (const auto& pod : caches.pods_of("team/" + name)) {
    const json gone = {{"metadata",
                        {{"name", pod->meta.name},
                         {"namespace", "team"},
                         {"uid", pod->meta.uid},
                         {"resourceVersion", std::to_string(++versions_)}}}};
    store("pods").remove(gone.dump());
  }
  planner.forget("team/" + name);
}

json ManyGangs::other_pod(const std::string& name, const std::string& node, const char* cores) {
  const json container = {{"resources", {{"requests", {{"cpu", cores}}}}}};
  return {{"metadata", {{"name", name}, {"namespace", "web"}, {"uid", name}, {"resourceVersion", "1"}}},
          {"spec", {{"nodeName", node}, {"containers", json::array({container})}}},
          {"status", {{"phase", "Running"}}}};
}

kube::Store& ManyGangs::other_pods() {
  for (const Feed& feed : caches.feeds())
    if (!feed.only.fields.empty()) return *feed.store;
  std::abort();
}

json ManyGangs::node(const std::string& name, const char* cores) {
  return {
      {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}, {kSystemLabel, kSystem}}}}},
      {"status",
       {{"allocatable", {{"cpu", cores}, {"memory", "64Gi"}, {"pods", "110"}}},
        {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
}

void ManyGangs::add_job(const std::string& name, int ranks, double cores, const std::string& pool) {
  json placement = {{"ranks", ranks}, {"ranksPerServer", 1}};
  if (!levels.is_null()) placement["topologyLevels"] = levels;
  json object = sample_job_json({{"/metadata/name", name},
                                 {"/metadata/uid", "uid of " + name},
                                 {"/spec/resources/cpu", cores},
                                 {"/spec/placement", placement}});
  if (!pool.empty()) object["spec"]["template"] = {{"spec", {{"nodeSelector", {{"pool", pool}}}}}};
  specs_[name] = object.at("spec");
  GnnJob job = read_gnn_job(object.dump());
  job.status.conditions = {{kCreated, true, "Made", "", kNow - Seconds(1000), 1},
                           {kPlaced, false, "NoRoom", "", kNow - Seconds(1000), 1}};
  job.status.keys = keys_name(name, "1");
  object["status"] = parse_json(write_status(job.status));
  put("gnnjobs", object);
  put("configmaps", parse_json(job_config_map(job)));
  put("configmaps", parse_json(prepared_config_map(
                        job, json{{"preparedChecksum", "p"}, {"ranks", ranks}, {"flows", flows}}.dump())));
  put("networkpolicies", parse_json(network_policy(job, settings)));
  for (int s = 0; s < ranks; ++s) put("pods", parse_json(worker_pod(job, settings, s, {Rank(s)}, 0)));
  put("pods", parse_json(launcher_pod(job, settings, 1)));
}

Decision ManyGangs::look(const std::string& name, bool is_taken) {
  const std::string job = "team/" + name;
  Planner::JobPlans job_plans(planner, job);
  auto seen = observe(job, caches, {.now = now});
  CachedCluster cluster(caches, seen->job,
                        [&](const Gang& gang, const auto& pods) { return job_plans.plan(gang, pods); });
  seen->cluster = &cluster;
  Decision decision = decide(*seen, settings);
  job_plans.keep(decision);
  if (decision.status && is_taken) {
    json object = sample_job_json({{"/metadata/name", name}, {"/metadata/uid", "uid of " + name}});
    object["spec"] = specs_[name];
    object["status"] = parse_json(write_status(*decision.status));
    put("gnnjobs", object);
  }
  return decision;
}

void ManyGangs::add_kinds() {
  for (int g = 0; g < kGangs; ++g) add_never(g, 5 + g / 100.0);
}

void ManyGangs::put_other_pod(const std::string& name, const std::string& node, const char* cores) {
  other_pods().put(other_pod(name, node, cores).dump());
}

std::string ManyGangs::why(const std::string& name) {
  look(name);
  const Condition* placed = find_condition(caches.job("team/" + name)->status.conditions, kPlaced);
  return placed ? placed->message : "";
}

void ManyGangs::look_at_all() {
  for (int g = 0; g < kGangs; ++g) look("never-" + std::to_string(g));
}

int ManyGangs::searches() {
  const int all = plans + reservations;
  plans = reservations = 0;
  return all;
}

}  // namespace atl::ctl
