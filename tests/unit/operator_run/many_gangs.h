// Many gangs among which a planner chooses, and their looks: caches of ten nodes that are told everything
// directly, without an API server, and searches that are counted.
#pragma once

#include <gmock/gmock.h>

#include <functional>
#include <future>
#include <map>
#include <string>

#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/run/observe.h"
#include "operator/run/planner.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {

using nlohmann::json;

inline constexpr int kGangs = 50;
inline const Moment kNow = *parse_moment("2026-03-01T13:00:00Z");

class Deaf final : public CacheListener {
 public:
  void job_changed(const std::string&, const std::string&) override {}
  void job_gone(const std::string&) override {}
  void room_changed() override {}
};

/// Ten nodes, and gangs that all waited too long.
struct ManyGangs : testing::Test {
  Deaf deaf;
  Caches caches{{}, deaf};
  int plans = 0, reservations = 0;
  Moment now = kNow;
  std::function<void()> while_searching = [] {};
  std::future<void> reflector_;  // outlives a search that holds it up
  Planner planner{caches,
                  Seconds(300),
                  [this] { return now; },
                  {.plan =
                       [this](const Gang& gang, const Snapshot& snapshot) {
                         ++plans;
                         return plan_gang(gang, snapshot);
                       },
                   .reserve =
                       [this](const Gang& gang, const Snapshot& snapshot) {
                         ++reservations;
                         while_searching();
                         return reserve(gang, snapshot);
                       }}};
  const Settings settings{.image = "atoll/engine:1"};

  void SetUp() override {
    for (int n = 0; n < 10; ++n) put("nodes", node("n" + std::to_string(n)));
  }
  void put(const std::string& plural, json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++versions_);
    if (!object["metadata"].contains("uid")) object["metadata"]["uid"] = "uid-" + std::to_string(versions_);
    store(plural).put(object.dump());
  }
  kube::Store& store(const std::string& plural) {
    for (const Feed& feed : caches.feeds())
      if (feed.path.ends_with("/" + plural) && feed.only.fields.empty()) return *feed.store;
    ADD_FAILURE() << plural;
    std::abort();
  }
  /// With all its pods.
  void remove_job(const std::string& name) {
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
  static json other_pod(const std::string& name, const std::string& node, const char* cores) {
    const json container = {{"resources", {{"requests", {{"cpu", cores}}}}}};
    return {{"metadata", {{"name", name}, {"namespace", "web"}, {"uid", name}, {"resourceVersion", "1"}}},
            {"spec", {{"nodeName", node}, {"containers", json::array({container})}}},
            {"status", {{"phase", "Running"}}}};
  }
  kube::Store& other_pods() {
    for (const Feed& feed : caches.feeds())
      if (!feed.only.fields.empty()) return *feed.store;
    std::abort();
  }
  static json node(const std::string& name, const char* cores = "8") {
    return {{"metadata",
             {{"name", name}, {"labels", {{"kubernetes.io/hostname", name}, {kSystemLabel, kSystem}}}}},
            {"status",
             {{"allocatable", {{"cpu", cores}, {"memory", "64Gi"}, {"pods", "110"}}},
              {"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  }
  /// All of its pods wait at their gates. `ranks`: each a server that takes so many cores.
  void add_job(const std::string& name, int ranks, double cores = 5) {
    json object = sample_job_json({{"/metadata/name", name},
                                   {"/metadata/uid", "uid of " + name},
                                   {"/spec/resources/cpu", cores},
                                   {"/spec/placement", {{"ranks", ranks}, {"ranksPerServer", 1}}}});
    specs_[name] = object.at("spec");
    GnnJob job = read_gnn_job(object.dump());
    job.status.conditions = {{kCreated, true, "Made", "", kNow - Seconds(1000), 1},
                             {kPlaced, false, "NoRoom", "", kNow - Seconds(1000), 1}};
    job.status.keys = keys_name(name, "1");
    object["status"] = json::parse(write_status(job.status));
    put("gnnjobs", object);
    put("configmaps", json::parse(job_config_map(job)));
    put("configmaps",
        json::parse(prepared_config_map(
            job, json{{"preparedChecksum", "p"}, {"ranks", ranks}, {"flows", json::array()}}.dump())));
    put("networkpolicies", json::parse(network_policy(job, settings)));
    for (int s = 0; s < ranks; ++s) put("pods", json::parse(worker_pod(job, settings, s, {Rank(s)}, 0)));
    put("pods", json::parse(launcher_pod(job, settings, 1)));
  }
  /// As the controller does; the status is written where it differs, unless the server takes none.
  Decision look(const std::string& name, bool is_taken = true) {
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
      object["status"] = json::parse(write_status(*decision.status));
      put("gnnjobs", object);
    }
    return decision;
  }
  void add_never(int number, double cores = 5) { add_job("never-" + std::to_string(number), 12, cores); }
  /// Alike in nothing but that they don't fit.
  void add_kinds() {
    for (int g = 0; g < kGangs; ++g) add_never(g, 5 + g / 100.0);
  }
  void put_other_pod(const std::string& name, const std::string& node = "n1", const char* cores = "10m") {
    other_pods().put(other_pod(name, node, cores).dump());
  }
  void end_other_pod(const std::string& name) { other_pods().remove(other_pod(name, "n1", "0").dump()); }
  std::string why(const std::string& name) {
    look(name);
    const Condition* placed = find_condition(caches.job("team/" + name)->status.conditions, kPlaced);
    return placed ? placed->message : "";
  }
  void look_at_all() {
    for (int g = 0; g < kGangs; ++g) look("never-" + std::to_string(g));
  }
  int searches() {
    const int all = plans + reservations;
    plans = reservations = 0;
    return all;
  }

 private:
  int versions_ = 0;
  std::map<std::string, json> specs_;
};

}  // namespace atl::ctl
