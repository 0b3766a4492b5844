// The cost of one look at a job in a large cluster: 1,000 nodes and 500 jobs of 8 workers, half of which have
// room; or with 200 gangs among them that never have any. The processor times are printed; the assertions
// only catch an explosion.
#include <gtest/gtest.h>

#include <atomic>
#include <ctime>
#include <functional>
#include <thread>

#include "base/json.h"
#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/run/observe.h"
#include "operator/run/planner.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr int kNodes = 1000, kJobs = 500, kServers = 8;
const Moment kNow = *parse_moment("2026-03-01T13:00:00Z");

class Deaf final : public CacheListener {
 public:
  void job_changed(const std::string&, const std::string&) override {}
  void job_gone(const std::string&) override {}
  void room_changed() override {}
};

/// Of processors, in this thread: others may be busy.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

/// Milliseconds of many.
struct Times {
  std::vector<double> all;

  double at(double share) {
    std::ranges::sort(all);
    return all.empty() ? 0 : 1000 * all[std::size_t(share * double(all.size() - 1))];
  }
  void print(const char* what) {
    std::printf("%-34s p50 %7.2f ms, p99 %7.2f ms, most %7.2f ms (%zu)\n", what, at(0.5), at(0.99), at(1),
                all.size());
  }
};

class Scale : public testing::Test {
 protected:
  Deaf deaf;
  Caches caches{{}, deaf};
  Planner planner{caches, Seconds(300), [] { return kNow; }};
  const Settings settings{.image = "atoll/engine:1"};
  Times plans, decisions;

  void SetUp() override {
    for (int n = 0; n < kNodes; ++n) put("nodes", node(n));
  }
  void add_jobs() {
    for (int j = 0; j < kJobs; ++j) add_job(j, j < kJobs / 2);
  }

  kube::Store& other_pods() {
    for (const Feed& feed : caches.feeds())
      if (!feed.only.fields.empty()) return *feed.store;
    std::abort();
  }
  kube::Store& store(const std::string& plural) {
    for (const Feed& feed : caches.feeds())
      if (feed.path.ends_with("/" + plural) && feed.only.fields.empty()) return *feed.store;
    ADD_FAILURE() << plural;
    std::abort();
  }
  void put(const std::string& plural, json object) {
    object["metadata"]["resourceVersion"] = std::to_string(++versions_);
    if (!object["metadata"].contains("uid")) object["metadata"]["uid"] = "uid-" + std::to_string(versions_);
    object["metadata"]["creationTimestamp"] = "2026-03-01T12:00:00Z";
    store(plural).put(object.dump());
  }
  static std::string node_name(int n) { return "worker-pool-a-node-" + std::to_string(n); }
  static json node(int n) {
    json labels = {{"kubernetes.io/hostname", node_name(n)},
                   {kSystemLabel, kSystem},
                   {"topology.kubernetes.io/zone", "zone-" + std::to_string(n / 500)},
                   {"rack", "rack-" + std::to_string(n / 20)}};
    for (int l = 0; l < 12; ++l)
      labels["cloud.example.com/label-" + std::to_string(l)] = "value of some length";
    return {{"metadata", {{"name", node_name(n)}, {"labels", labels}}},
            {"status",
             {{"allocatable",
               {{"cpu", "8"}, {"memory", "64Gi"}, {"pods", "110"}, {"ephemeral-storage", "100Gi"}}},
              {"conditions", json::array({{{"type", "Ready"}, {"status", "True"}}})}}}};
  }

  /// One that runs, or one whose gated pods wait. `cores`: of a rank.
  void add_job(int number, bool runs, double cores = 1.5) {
    const std::string name = "job-" + std::to_string(number);
    json object = sample_job_json({{"/metadata/name", name},
                                   {"/metadata/uid", "uid-of-" + name},
                                   {"/spec/resources/cpu", cores},
                                   {"/spec/placement/ranks", 2 * kServers},
                                   {"/spec/placement/topologyLevels",
                                    {"topology.kubernetes.io/zone", "rack", "kubernetes.io/hostname"}}});
    GnnJob job = read_gnn_job(object.dump());
    const auto condition = [&](const char* type, bool holds, const char* reason) {
      job.status.conditions.push_back({type, holds, reason, "", *parse_moment("2026-03-01T12:00:00Z"), 1});
    };
    condition(kCreated, true, "Made");
    condition(kPlaced, runs, runs ? "Planned" : "NoRoom");
    for (int s = 0; s < kServers && runs; ++s)
      job.status.servers.push_back({node_name((number * kServers + s) % kNodes), {2 * s, 2 * s + 1}});
    job.status.keys = keys_name(job.meta.name, "1");
    object["status"] = parse_json(write_status(job.status));
    put("gnnjobs", object);
    put("configmaps", parse_json(job_config_map(job)));
    put("configmaps",
        parse_json(prepared_config_map(job, R"({"preparedChecksum":"p","ranks":16,"flows":[]})")));
    put("networkpolicies", parse_json(network_policy(job, settings)));
    for (int s = 0; s < kServers; ++s) {
      json pod = parse_json(worker_pod(job, settings, s, {2 * s, 2 * s + 1}, 0));
      if (runs) bind(pod, job.status.servers[std::size_t(s)].node);
      put("pods", pod);
    }
    json launcher = parse_json(launcher_pod(job, settings, 1));
    if (runs) bind(launcher, job.status.servers[0].node);
    put("pods", launcher);
  }
  static void bind(json& pod, const std::string& node) {
    pod["spec"].erase("schedulingGates");
    pod["spec"]["nodeName"] = node;
    pod["metadata"]["annotations"]["atoll.dev/released-at"] = "2026-03-01T12:00:00Z";
    pod["status"] = {{"phase", "Running"},
                     {"conditions", json::array({{{"type", "Ready"}, {"status", "True"}}})}};
  }
  void end_job(int number) {
    const std::string name = "team/job-" + std::to_string(number);
    for (const auto& pod : caches.pods_of(name))
      store("pods").remove(
          json{{"metadata", {{"name", pod->meta.name}, {"namespace", "team"}, {"uid", pod->meta.uid}}}}
              .dump());
  }

  /// As the controller does, without what it asks the API server for.
  Decision look(int number) {
    const std::string job = "team/job-" + std::to_string(number);
    Planner::JobPlans job_plans(planner, job);
    double planning = 0;
    const double begin = cpu_seconds();
    auto seen = observe(job, caches, {.now = kNow});
    CachedCluster cluster(caches, seen->job, [&](const Gang& gang, const auto& pods) {
      const double plan_begin = cpu_seconds();
      GangPlan plan = job_plans.plan(gang, pods);
      planning = cpu_seconds() - plan_begin;
      plans.all.push_back(planning);
      return plan;
    });
    seen->cluster = &cluster;
    Decision decision = decide(*seen, settings);
    job_plans.keep(decision);
    if (decision.status && holds(decision.status->conditions, kPlaced)) planner.stop_waiting(job);
    decisions.all.push_back(cpu_seconds() - begin - planning);
    return decision;
  }
  void report(const char* what) {
    std::printf("%s\n", what);
    plans.print("  planning");
    decisions.print("  looking and deciding");
    EXPECT_LT(plans.at(0.99), 1000);
    EXPECT_LT(decisions.at(0.99), 500);
    plans.all.clear();
    decisions.all.clear();
  }

 private:
  int versions_ = 0;
};

TEST_F(Scale, LooksAtWaitingAndAtPlacedJobs) {
  add_jobs();
  for (int j = 0; j < kJobs / 2; ++j) look(j);
  report("250 jobs whose pods stand");
  for (int j = kJobs / 2; j < kJobs; j += 2) look(j);
  report("125 jobs that find no room");
  for (int j = kJobs / 2 + 1; j < kJobs; j += 2) look(j);
  report("125 more, with room kept for the first");
  int placed = 0;
  for (int j = 0; j < 50; ++j) {
    end_job(j);
    const Decision decision = look(kJobs / 2 + j);
    placed += decision.status && holds(decision.status->conditions, kPlaced);
  }
  EXPECT_GT(placed, 25);
  report("50 jobs that find room");
}

/// Each of the gangs has waited too long for nodes with more cores than there are.
class NeverFit : public Scale {
 protected:
  void add_cluster(int kinds) {
    for (int j = 0; j < kRunning; ++j) add_job(j, true);
    for (int j = 0; j < kNever; ++j) add_job(kRunning + j, false, 40 + j % kinds);
    for (int p = 0; p < 10 * kNodes; ++p) put_other_pod(p);
  }
  void put_other_pod(int number) {
    const json container = {{"resources", {{"requests", {{"cpu", "50m"}, {"memory", "64Mi"}}}}}};
    const std::string name = "app-" + std::to_string(number);
    other_pods().put(
        json{{"metadata", {{"name", name}, {"namespace", "web"}, {"uid", name}, {"resourceVersion", "1"}}},
             {"spec", {{"nodeName", node_name(number % kNodes)}, {"containers", json::array({container})}}},
             {"status", {{"phase", "Running"}}}}
            .dump());
  }
  /// Milliseconds of processor time that a look takes.
  double look_at_all(const char* what, const std::function<void(int)>& before_each) {
    double seconds = 0;
    for (int j = 0; j < kNever; ++j) {
      before_each(j);
      const double begin = cpu_seconds();
      look(kRunning + j);
      seconds += cpu_seconds() - begin;
    }
    std::printf("%-60s %7.2f ms CPU a look\n", what, 1000 * seconds / kNever);
    return 1000 * seconds / kNever;
  }

  static constexpr int kRunning = 100, kNever = 200;
  static constexpr double kMost = 5;  // milliseconds
};

TEST_F(NeverFit, OfOneKind) {
  add_cluster(1);
  EXPECT_LE(look_at_all("200 gangs that never fit, for the first time", [](int) {}), kMost);
  EXPECT_LE(look_at_all("200 gangs that never fit", [](int) {}), kMost);
  look_at_all("… and a pod comes before each look", [&](int look) { put_other_pod(10 * kNodes + look); });
}

TEST_F(NeverFit, OfManyKinds) {
  add_cluster(kNever);
  look_at_all("200 gangs of 200 kinds that never fit, for the first time", [](int) {});
  EXPECT_LE(look_at_all("200 gangs of 200 kinds that never fit", [](int) {}), kMost);
  look_at_all("… and a pod comes before each look", [&](int look) { put_other_pod(10 * kNodes + look); });
}

/// For ThreadSanitizer: workers that look at jobs while what they look at changes.
TEST_F(Scale, ManyThreadsLookAtOnce) {
  add_jobs();
  std::atomic<int> looks = 0;
  const auto work = [&](int first) {
    for (int j = first; j < kJobs / 2 + 20; j += 4) {
      const std::string job = "team/job-" + std::to_string(j);
      Planner::JobPlans job_plans(planner, job);
      auto seen = observe(job, caches, {.now = kNow});
      CachedCluster cluster(caches, seen->job,
                            [&](const Gang& gang, const auto& pods) { return job_plans.plan(gang, pods); });
      seen->cluster = &cluster;
      const Decision decision = decide(*seen, settings);
      job_plans.keep(decision);
      planner.stop_waiting(job);
      planner.forget(job);
      ++looks;
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) threads.emplace_back(work, kJobs / 2 - 20 + t);
    for (int j = 0; j < 20; ++j) end_job(j);
  }
  EXPECT_EQ(looks, 40);
}

}  // namespace
}  // namespace atl::ctl
