// Many gangs that can never have places: they cost a search now and then, not one each for every look at any
// job, and telling the caches that one of them is gone waits for no search.
#include <gmock/gmock.h>

#include <future>

#include "operator/controller/decide.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/run/observe.h"
#include "operator/run/planner.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr int kGangs = 50;
const Moment kNow = *parse_moment("2026-03-01T13:00:00Z");

class Deaf final : public CacheListener {
 public:
  void job_changed(const std::string&, const std::string&) override {}
  void job_gone(const std::string&) override {}
  void room_changed() override {}
};

/// Ten nodes, and gangs that all waited too long.
class NeverFits : public testing::Test {
 protected:
  Deaf deaf;
  Caches caches{{}, deaf};
  int plans = 0, reservations = 0;
  std::function<void()> while_searching = [] {};
  std::future<void> reflector_;  // outlives a search that holds it up
  Planner planner{caches,
                  Seconds(300),
                  [] { return kNow; },
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
    auto seen = observe(job, caches, {.now = kNow});
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
  void put_other_pod(const std::string& name) {
    other_pods().put(json{
        {"metadata", {{"name", name}, {"namespace", "web"}, {"uid", name}, {"resourceVersion", "1"}}},
        {"spec", {{"nodeName", "n1"}, {"containers", {{{"resources", {{"requests", {{"cpu", "10m"}}}}}}}}}},
        {"status", {{"phase", "Running"}}}}
                         .dump());
  }
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

TEST_F(NeverFits, NobodyIsSearchedForAgainWhileNothingChanges) {
  for (int g = 0; g < kGangs; ++g) add_never(g);
  look_at_all();
  look_at_all();
  searches();
  look_at_all();
  EXPECT_EQ(searches(), 0) << "each of " << kGangs << " was searched for before";
}

TEST_F(NeverFits, AChangeCostsOneSearchOfEachKindForAllThatAreAlike) {
  for (int g = 0; g < kGangs; ++g) add_never(g);
  look_at_all();
  look_at_all();
  searches();
  put_other_pod("app");
  look_at_all();
  EXPECT_LE(searches(), 2);
}

TEST_F(NeverFits, ALookAmongManyKindsCostsAFewSearchesWhateverChanges) {
  add_kinds();
  look_at_all();
  look_at_all();
  searches();
  for (int g = 0; g < kGangs; ++g) {
    put_other_pod("app-" + std::to_string(g));
    look("never-" + std::to_string(g));
    EXPECT_LE(searches(), 3) << "its own, and no more than two of others";
  }
}

TEST_F(NeverFits, ManyKindsAreAllTriedAgainAfterAChange) {
  add_kinds();
  look_at_all();
  put_other_pod("app");
  for (int looks = 0; looks < 2; ++looks) look_at_all();
  searches();
  look_at_all();
  EXPECT_EQ(searches(), 0) << "of each it is known by now";
}

TEST_F(NeverFits, RoomIsKeptForTheFirstOfManyKindsThatCanStandAfterAll) {
  add_job("runs", 6);
  EXPECT_TRUE(holds(look("runs").status->conditions, kPlaced));
  add_kinds();
  look_at_all();
  EXPECT_THAT(why("never-0"), testing::HasSubstr("the job can't start without more nodes"));
  for (int n = 10; n < 13; ++n) put("nodes", node("n" + std::to_string(n)));
  for (int looks = 0; looks < 2; ++looks) look_at_all();
  EXPECT_THAT(why("never-0"), testing::HasSubstr("are kept for it"));
  EXPECT_THAT(why("never-49"), testing::HasSubstr("room is reserved for team/never-0, which comes first"));
}

TEST_F(NeverFits, WhoeverFitsIsPlacedAmongThem) {
  add_job("fits", 4);
  for (int g = 0; g < kGangs; ++g) add_never(g);
  look_at_all();
  look_at_all();
  const Decision decision = look("fits");
  ASSERT_TRUE(decision.status);
  EXPECT_TRUE(holds(decision.status->conditions, kPlaced));
}

TEST_F(NeverFits, ANodeThatMakesItFitIsNoticed) {
  add_never(0);
  look("never-0");
  const Decision again = look("never-0");
  EXPECT_FALSE(again.status && holds(again.status->conditions, kPlaced));
  for (int n = 10; n < 13; ++n) put("nodes", node("n" + std::to_string(n)));
  const Decision decision = look("never-0");
  ASSERT_TRUE(decision.status);
  EXPECT_TRUE(holds(decision.status->conditions, kPlaced));
}

TEST_F(NeverFits, AnothersRoomIsNotGivenToTwo) {
  add_job("a", 6);
  add_job("b", 6);
  EXPECT_TRUE(holds(look("a", false).status->conditions, kPlaced)) << "of which nobody else has heard yet";
  const Decision second = look("b");
  EXPECT_FALSE(second.status && holds(second.status->conditions, kPlaced));
}

TEST_F(NeverFits, RoomThatCameToNothingIsAnybodys) {
  add_job("a", 6);
  add_job("b", 6);
  EXPECT_TRUE(holds(look("a", false).status->conditions, kPlaced));
  look("b");
  planner.forget("team/a");
  const Decision second = look("b");
  ASSERT_TRUE(second.status);
  EXPECT_TRUE(holds(second.status->conditions, kPlaced));
}

TEST_F(NeverFits, NobodyWaitsForTheRestOfAnothersDecision) {
  add_job("a", 6);
  add_job("b", 6);
  const auto gang_of_six = [](const char* job) {
    Gang gang{.job = job, .servers = {{0}, {1}, {2}, {3}, {4}, {5}}};
    gang.server = Resources({{"cpu", 5000}});
    gang.traffic = Traffic::uniform(6, 1);
    gang.levels = {"kubernetes.io/hostname"};
    gang.weights = {1};
    return gang;
  };
  const std::vector<std::string> pods = {"0", "1", "2", "3", "4", "5"};
  Planner::JobPlans later(planner, "team/b");
  {
    Planner::JobPlans first(planner, "team/a");
    ASSERT_TRUE(first.plan(gang_of_six("team/a"), pods).fits);
    EXPECT_FALSE(later.plan(gang_of_six("team/b"), pods).fits) << "the room is taken from the plan on";
    EXPECT_TRUE(first.plan(gang_of_six("team/a"), pods).fits) << "its own room is no obstacle";
  }
  EXPECT_TRUE(later.plan(gang_of_six("team/b"), pods).fits) << "nothing was written of the first";
}

TEST_F(NeverFits, RoomIsTakenOnlyForPodsThatTheDecisionWrites) {
  Planner::JobPlans job_plans(planner, "team/a");
  Gang gang;
  gang.job = "team/a";
  gang.servers = {{0}, {1}};
  gang.server = Resources({{"cpu", 5000}});
  gang.traffic = Traffic::uniform(2, 1);
  gang.levels = {"kubernetes.io/hostname"};
  gang.weights = {1};
  ASSERT_TRUE(job_plans.plan(gang, {"a-0-0", "a-1-0"}).fits);
  Decision decision;
  decision.stages = {{{Write::Verb::kPatch, Kind::kPod, "a-1-0", "", "", {}},
                      {Write::Verb::kDelete, Kind::kPod, "a-0-0", "", "uid", {}}}};
  job_plans.keep(decision);
  std::int64_t taken = 0;
  for (const NodeLeft& left : caches.room().snapshot("").left) taken += 8000 - left.free.of("cpu");
  EXPECT_EQ(taken, 5000);
}

TEST_F(NeverFits, TheReflectorIsNotHeldUpByASearch) {
  add_never(0);
  add_never(1);
  look("never-0");
  std::future_status told = std::future_status::timeout;
  while_searching = [&] {
    if (reflector_.valid()) return;
    reflector_ = std::async(std::launch::async, [&] { planner.stop_waiting("team/never-0"); });
    told = reflector_.wait_for(std::chrono::seconds(2));
  };
  put("nodes", node("n1", "7"));
  look("never-1");
  EXPECT_EQ(told, std::future_status::ready) << "a deletion waits for a search";
}

}  // namespace
}  // namespace atl::ctl
