// Many gangs among which a planner chooses, and their looks: caches of ten nodes that are told everything
// directly, without an API server, and searches that are counted.
#pragma once

#include <gmock/gmock.h>

#include <ctime>
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

/// Of processors, in this thread: others may be busy.
inline double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

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
  json levels;                 // topologyLevels of jobs that are added; null: the default
  json flows = json::array();  // between their ranks
  std::function<void()> while_searching = [] {};
  std::function<GangPlan(const Gang&, const Snapshot&)> search_plan = plan_gang;
  std::future<void> reflector_;  // outlives a search that holds it up
  Planner planner{caches,
                  Seconds(300),
                  [this] { return now; },
                  {.plan =
                       [this](const Gang& gang, const Snapshot& snapshot) {
                         ++plans;
                         return search_plan(gang, snapshot);
                       },
                   .reserve =
                       [this](const Gang& gang, const Snapshot& snapshot, const auto& but) {
                         ++reservations;
                         while_searching();
                         return reserve(gang, snapshot, but);
                       }}};
  const Settings settings{.image = "atoll/engine:1"};

  // Both are defined in the .cc, so that the code that makes and ends caches and planner is compiled once.
  ManyGangs();
  ~ManyGangs() override;

  void SetUp() override;
  void put(const std::string& plural, json object);
  kube::Store& store(const std::string& plural);
  /// With all its pods.
  void remove_job(const std::string& name);
  static json other_pod(const std::string& name, const std::string& node, const char* cores);
  kube::Store& other_pods();
  static json node(const std::string& name, const char* cores = "8");
  /// All of its pods wait at their gates. `ranks`: each a server that takes so many cores. `pool`: the label
  /// of the only nodes that it may use; "": any.
  void add_job(const std::string& name, int ranks, double cores = 5, const std::string& pool = "");
  /// As the controller does; the status is written where it differs, unless the server takes none.
  Decision look(const std::string& name, bool is_taken = true);
  void add_never(int number, double cores = 5) { add_job("never-" + std::to_string(number), 12, cores); }
  /// Alike in nothing but that they don't fit.
  void add_kinds();
  void put_other_pod(const std::string& name, const std::string& node = "n1", const char* cores = "10m");
  void end_other_pod(const std::string& name) { other_pods().remove(other_pod(name, "n1", "0").dump()); }
  std::string why(const std::string& name);
  void look_at_all();
  int searches();

 private:
  int versions_ = 0;
  std::map<std::string, json> specs_;
};

}  // namespace atl::ctl
