// Many gangs that can never have places: they cost a search now and then, not one each for every look at any
// job, and telling the caches that one of them is gone waits for no search.
#include "operator_run/many_gangs.h"

namespace atl::ctl {
namespace {

class NeverFits : public ManyGangs {};

/// Servers of 5 processors, which all talk.
Gang gang_of(const std::string& job, int servers) {
  Gang gang{.job = job};
  for (int server = 0; server < servers; ++server) gang.servers.push_back({server});
  gang.server = Resources({{"cpu", 5000}});
  gang.traffic = Traffic::uniform(servers, 1);
  gang.levels = {"kubernetes.io/hostname"};
  gang.weights = {1};
  return gang;
}

/// Until its pods are made, the status says that it has lacked places since its data set began to be
/// prepared.
TEST_F(NeverFits, OneThatWasJustPreparedBeginsToWait) {
  WaitingGangs gangs(caches, Seconds(300), [this] { return now; }, {});
  gangs.put({gang_of("team/large", 12), "a class"});
  const Moment begun = kNow - Seconds(5000), made = kNow - Seconds(100);
  json job = sample_job_json({{"/metadata/name", "large"}, {"/metadata/uid", "uid of large"}});
  const auto since = [&](const std::vector<Condition>& conditions) {
    Status status;
    status.conditions = conditions;
    job["status"] = parse_json(write_status(status));
    put("gnnjobs", job);
    return gangs.in_line().at(0).since;
  };
  EXPECT_EQ(since({{kPlaced, false, "NoRoom", "", begun, 1}}), kNow);
  EXPECT_EQ(since({{kPlaced, false, "NoRoom", "", begun, 1}, {kCreated, true, "Made", "", made, 1}}), made);
}

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

TEST_F(NeverFits, AKindThatNobodyAskedForIsForgottenForAnother) {
  add_kinds();
  look("never-0");
  now += Seconds(151);
  plans = 0;
  look("never-0");
  EXPECT_EQ(plans, 0) << "the words stand for ten minutes";
  now += Seconds(151);
  look("never-1");
  plans = 0;
  look("never-0");
  EXPECT_EQ(plans, 1);
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
  const std::vector<std::string> pods = {"0", "1", "2", "3", "4", "5"};
  Planner::JobPlans later(planner, "team/b");
  {
    Planner::JobPlans first(planner, "team/a");
    ASSERT_TRUE(first.plan(gang_of("team/a", 6), pods).fits);
    EXPECT_FALSE(later.plan(gang_of("team/b", 6), pods).fits) << "the room is taken from the plan on";
    EXPECT_TRUE(first.plan(gang_of("team/a", 6), pods).fits) << "its own room is no obstacle";
  }
  EXPECT_TRUE(later.plan(gang_of("team/b", 6), pods).fits) << "nothing was written of the first";
}

TEST_F(NeverFits, RoomIsTakenOnlyForPodsThatTheDecisionWrites) {
  Planner::JobPlans job_plans(planner, "team/a");
  const Gang gang = gang_of("team/a", 2);
  ASSERT_TRUE(job_plans.plan(gang, {"a-0-0", "a-1-0"}).fits);
  Decision decision;
  decision.stages = {{{Write::Verb::kPatch, Kind::kPod, "a-1-0", "", "", {}},
                      {Write::Verb::kDelete, Kind::kPod, "a-0-0", "", "uid", {}}}};
  job_plans.keep(decision);
  std::int64_t taken = 0;
  for (const NodeLeft& left : caches.room().snapshot("").left) taken += 8000 - left.free.of("cpu");
  EXPECT_EQ(taken, 5000);
}

TEST_F(NeverFits, ALauncherThatIsPlacedLaterTakesNoRoom) {
  add_job("a", 2);
  Planner::JobPlans job_plans(planner, "team/a");
  const Gang gang = gang_of("team/a", 2);
  std::vector<std::string> pods;
  for (const char* role : {kWorkerRole, kLauncherRole})
    for (const auto& pod : caches.pods_of("team/a"))
      if (pod->meta.label(kRoleLabel) == role) pods.push_back(pod->meta.name);
  ASSERT_EQ(pods.size(), 3U);
  ASSERT_TRUE(job_plans.plan(gang, pods).fits);
  std::int64_t taken = 0;
  for (const NodeLeft& left : caches.room().snapshot("").left) taken += 110 - left.free.of("pods");
  EXPECT_EQ(taken, 2) << "the workers";
}

/// Jobs on GPUs, in a cluster that has none for them yet.
struct NoSizeFits : NeverFits {
  int size_searches = 0;
  Planner sizes{caches,
                Seconds(300),
                [this] { return now; },
                {.largest_pods = [this](const auto& ways, const Snapshot& snapshot, const std::string& gpu) {
                  ++size_searches;
                  return largest_pods(ways, snapshot, gpu);
                }}};

  /// `ranks`: a pod has all of them, or one each.
  std::optional<PodSize> size_of(const std::string& job, int ranks, std::int64_t cores_each) {
    Gang together = gang_of(job, 1), apart = gang_of(job, ranks);
    together.servers[0].assign(std::size_t(ranks), 0);
    together.server = Resources({{"cpu", ranks * cores_each * 1000}});
    apart.server = Resources({{"cpu", cores_each * 1000}});
    return Planner::JobPlans(sizes, job).largest_pods({together, apart}, "cpu");
  }
};

TEST_F(NoSizeFits, ItIsSearchedForOnceForAllThatAreAlikeWhateverPodsCome) {
  for (int g = 0; g < kGangs; ++g) {
    EXPECT_EQ(size_of("team/never-" + std::to_string(g), 4, 9), std::nullopt);
    put_other_pod("app-" + std::to_string(g));
  }
  EXPECT_EQ(size_searches, 1);
  EXPECT_EQ(size_of("team/other", 5, 9), std::nullopt);
  EXPECT_EQ(size_searches, 2) << "of another kind";
}

TEST_F(NoSizeFits, ItIsSearchedForAgainWhenNodesChangeAndNowAndThen) {
  EXPECT_EQ(size_of("team/a", 4, 9), std::nullopt);
  put("nodes", node("n10", "35"));
  EXPECT_EQ(size_of("team/a", 4, 9), std::nullopt);
  EXPECT_EQ(size_searches, 2);
  now += Seconds(601);
  EXPECT_EQ(size_of("team/a", 4, 9), std::nullopt);
  EXPECT_EQ(size_searches, 3) << "a daemon set's pod may have gone";
  put("nodes", node("n10", "36"));
  const auto size = size_of("team/a", 4, 9);
  ASSERT_TRUE(size);
  EXPECT_EQ(size->ranks, 4);
}

TEST_F(NoSizeFits, OneThatFitsIsSearchedForByEachJob) {
  for (const char* job : {"team/a", "team/b"}) EXPECT_EQ(size_of(job, 4, 2)->ranks, 4);
  EXPECT_EQ(size_searches, 2);
}

TEST_F(NeverFits, TheReflectorIsNotHeldUpByASearch) {
  add_job("runs", 6);
  add_job("waits", 6);
  look("runs");
  look("waits");
  std::future_status told = std::future_status::timeout;
  while_searching = [&] {
    if (reflector_.valid()) return;
    reflector_ = std::async(std::launch::async, [&] { planner.stop_waiting("team/waits"); });
    told = reflector_.wait_for(std::chrono::seconds(2));
  };
  put("nodes", node("n1", "7"));
  look("waits");
  EXPECT_EQ(told, std::future_status::ready) << "a deletion waits for a search";
}

}  // namespace
}  // namespace atl::ctl
