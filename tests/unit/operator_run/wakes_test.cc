// Who is looked at when room comes free: gangs of the classes that could fit now, as many as there could be
// room for, and nobody else.
#include <map>

#include "operator/plan/demand_class.h"
#include "operator/plan/room.h"
#include "operator_run/many_gangs.h"
#include "operator_run/random_cluster.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

using Domain = std::vector<std::string>;

Domain domain_of(const Gang& gang, const Site& site) {
  Domain domain;
  for (int level = 0; level <= gang.within; ++level) domain.emplace_back(site.domain_at(level));
  return domain;
}

/// What ClassRoom::could_fit() says of a gang without a launcher, counted site by site.
std::int64_t gangs_that_fit(const Gang& gang, const Room& room) {
  std::map<Domain, std::int64_t> slots;
  for (const Site& site : room.sites(false)) slots[domain_of(gang, site)] += site.slots;
  std::int64_t gangs = 0;
  for (const auto& [domain, count] : slots) gangs += count / std::ssize(gang.servers);
  return gangs;
}

/// Whether a gang fits with its launcher, which is tried on each node.
bool fits_with_launcher(const Gang& gang, const Room& room) {
  for (std::size_t host = 0; host < room.usable().size(); ++host) {
    const NodeRoom& node = room.usable()[host];
    if (node.free.times(gang.launcher) == 0) continue;
    auto sites = room.sites(false);
    sites[host] = room.site(node, Resources(node.free) -= gang.launcher);
    std::map<Domain, std::int64_t> slots;
    for (const Site& site : sites) slots[domain_of(gang, site)] += site.slots;
    for (const auto& [domain, count] : slots)
      if (count >= std::ssize(gang.servers)) return true;
  }
  return false;
}

TEST(ClassRoom, IsWhatOneCountsFromNothingAfterManyRandomEvents) {
  RandomCluster cluster(3);
  RoomTable& table = cluster.caches().room();
  std::vector<Gang> gangs(3);
  for (Gang& gang : gangs) {
    gang.servers = {{0}, {1}, {2}};
    gang.server = Resources({{"cpu", 2500}, {"pods", 1}});
    gang.levels = {"rack", "kubernetes.io/hostname"};
    gang.filter.excluded = {"n3"};
  }
  gangs[1].within = 0;
  gangs[2].within = 1;
  std::vector<ClassRoom> classes;
  for (const Gang& gang : gangs) classes.emplace_back(gang, table.snapshot(""));
  table.take_changes();
  bool has_fitted = false, has_not = false;
  for (int event = 1; event <= 5'000; ++event) {
    cluster.happen();
    if (event % 3 == 0) table.snapshot(cluster.any_job());
    if (event % 10 != 0) continue;
    const Snapshot& snapshot = table.snapshot("");
    const auto changes = table.take_changes();
    Snapshot counted = cluster.counted();
    for (std::size_t c = 0; c < classes.size(); ++c) {
      if (changes.from) classes[c].move(*changes.from);
      for (const std::size_t node : changes.nodes) classes[c].count(snapshot, node);
      const auto fit = gangs_that_fit(gangs[c], Room(gangs[c], counted));
      ASSERT_EQ(classes[c].could_fit(snapshot).gangs, fit) << "class " << c << " after event " << event;
      (fit > 0 ? has_fitted : has_not) = true;
    }
    std::erase_if(counted.pods, [](const PodState& pod) { return !pod.of_daemon_set; });
    for (std::size_t c = 0; c < classes.size(); ++c)
      ASSERT_EQ(classes[c].could_ever(), gangs_that_fit(gangs[c], Room(gangs[c], counted)) > 0) << event;
  }
  EXPECT_TRUE(has_fitted && has_not) << "else this shows little";
}

TEST(ClassRoom, KnowsWhetherALauncherFitsBesideTheServers) {
  RandomCluster cluster(5);
  RoomTable& table = cluster.caches().room();
  bool has_lacked = false;
  for (int event = 1; event <= 5'000; ++event) {
    cluster.happen();
    if (event % 10 != 0) continue;
    const Snapshot counted = cluster.counted();
    for (int within = -1; within < 2; ++within) {
      Gang gang;
      gang.servers.resize(std::size_t(1 + event / 10 % 8), {0});
      gang.server = Resources({{"cpu", 1500}, {"pods", 1}});
      gang.launcher = Resources({{"cpu", 1250}, {"pods", 1}});
      gang.levels = {"rack", "kubernetes.io/hostname"};
      gang.within = within;
      const Snapshot& snapshot = table.snapshot("");
      const auto fit = ClassRoom(gang, snapshot).could_fit(snapshot);
      const Room room(gang, counted);
      ASSERT_EQ(fit.gangs > 0, fits_with_launcher(gang, room))
          << "within " << within << " after event " << event;
      ASSERT_EQ(fit.lacks_launcher, fit.gangs == 0 && gangs_that_fit(gang, room) > 0) << event;
      has_lacked |= fit.lacks_launcher;
    }
  }
  EXPECT_TRUE(has_lacked) << "else this shows little";
}

/// Ten nodes of 8 cores, each taken by somebody else's pod.
struct Wakes : ManyGangs {
  void SetUp() override {
    ManyGangs::SetUp();
    for (int n = 0; n < 10; ++n) put_other_pod("app-" + std::to_string(n), "n" + std::to_string(n), "6");
  }
  /// Looks at those who could fit until nobody does; returns all that were looked at.
  std::vector<std::string> wake() {
    std::vector<std::string> woken;
    for (const std::string& job : planner.could_fit_now()) {
      woken.push_back(job.substr(5));
      look(woken.back());
    }
    return woken;
  }
};

TEST_F(Wakes, OnlyThoseWhoseClassCouldFit) {
  add_job("large", 2, 5);
  add_job("never", 12, 5);
  add_job("small", 1, 3);
  for (const char* job : {"large", "never", "small"}) look(job);
  EXPECT_THAT(wake(), IsEmpty()) << "there is no room";
  put_other_pod("app-1", "n1", "4500m");
  EXPECT_THAT(wake(), ElementsAre("small")) << "3.5 cores came free";
  end_other_pod("app-2");
  EXPECT_THAT(wake(), IsEmpty()) << "one node of two";
  end_other_pod("app-3");
  EXPECT_THAT(wake(), ElementsAre("large"));
}

TEST_F(Wakes, OfManyThatAreAlikeAsManyAsThereIsRoomFor) {
  for (const char* job : {"a", "b", "c", "d"}) add_job(job, 1, 5);
  for (const char* job : {"a", "b", "c", "d"}) look(job);
  plans = 0;
  end_other_pod("app-1");
  end_other_pod("app-2");
  EXPECT_THAT(wake(), ElementsAre("a", "b"));
  EXPECT_EQ(plans, 2) << "one search each";
  EXPECT_THAT(wake(), IsEmpty()) << "the room is taken";
}

TEST_F(Wakes, NobodyForRoomWithoutAPlaceForTheLauncher) {
  add_job("full", 10, 2);
  EXPECT_THAT(why("full"), testing::HasSubstr("there is room only for the servers"))
      << "two cores are free on each";
  look("full");  // whether room can be kept for it is known from now on
  searches();
  put_other_pod("app-1", "n1", "5950m");
  EXPECT_THAT(wake(), IsEmpty()) << "0.05 cores more are too few for a launcher";
  EXPECT_EQ(searches(), 0);
  put_other_pod("app-1", "n1", "5800m");
  EXPECT_THAT(wake(), ElementsAre("full"));
}

TEST_F(Wakes, ARefusalSaysThatTheLauncherAloneHasNoPlace) {
  put_other_pod("app-1", "n1", "7");
  add_job("full", 10, 2);
  EXPECT_THAT(why("full"), testing::HasSubstr("has room for 9"));
  put_other_pod("app-1", "n1", "6");
  EXPECT_THAT(why("full"), testing::HasSubstr("there is room only for the servers"))
      << "nobody has to wait ten minutes for other words than numbers";
}

TEST_F(Wakes, NobodyForRoomThatIsKept) {
  for (int n = 0; n < 10; ++n) end_other_pod("app-" + std::to_string(n));
  add_job("runs", 9, 5);
  add_job("first", 2, 5);
  add_job("later", 1, 5);
  for (const char* job : {"runs", "first", "later"}) look(job);
  EXPECT_THAT(wake(), IsEmpty()) << "the tenth node is kept for the first";
  planner.stop_waiting("team/first");
  EXPECT_THAT(wake(), ElementsAre("later"));
}

TEST_F(Wakes, ThoseWhoCouldHaveRoomThatIsKeptElsewhereNow) {
  for (int n = 1; n <= 4; ++n) {
    end_other_pod("app-" + std::to_string(n));
    add_job("runs-" + std::to_string(n), 1, 7);
    look("runs-" + std::to_string(n));
  }
  add_job("first", 3, 5);
  add_job("later", 1, 3);
  for (const char* job : {"first", "later", "first", "later"}) look(job);
  EXPECT_THAT(why("first"), testing::HasSubstr("n1, n2, n3 are kept for it"));
  remove_job("runs-1");
  EXPECT_THAT(wake(), IsEmpty()) << "the node is kept";
  now += Seconds(5);
  EXPECT_THAT(wake(), IsEmpty()) << "it still is";
  put_other_pod("app-1", "n1", "4500m");
  EXPECT_THAT(wake(), IsEmpty()) << "it was a moment ago";
  EXPECT_EQ(planner.kept_room_stays(), Seconds(5)) << "then there is something to see";
  EXPECT_FALSE(planner.take_moved());
  now += Seconds(5);
  EXPECT_THAT(why("first"), testing::HasSubstr("n2, n3, n4 are kept for it"));
  EXPECT_TRUE(planner.take_moved());
  EXPECT_EQ(planner.kept_room_stays(), Seconds(0));
  EXPECT_THAT(wake(), ElementsAre("later"));
}

TEST_F(Wakes, ThoseThatNeverFitOnceTheClusterHasGrown) {
  add_job("never", 12, 5);
  look("never");
  for (int n = 0; n < 10; ++n) end_other_pod("app-" + std::to_string(n));
  EXPECT_THAT(wake(), IsEmpty()) << "ten empty nodes don't hold twelve servers";
  searches();
  look("never");
  EXPECT_EQ(searches(), 0);
  put("nodes", node("n10"));
  EXPECT_THAT(wake(), IsEmpty());
  put("nodes", node("n11"));
  EXPECT_THAT(wake(), ElementsAre("never"));
}

TEST_F(Wakes, ARefusalsWordsAreOfTheLastTenMinutes) {
  add_job("waits", 2, 5);
  EXPECT_THAT(why("waits"), testing::HasSubstr("has room for 0"));
  end_other_pod("app-1");
  EXPECT_THAT(why("waits"), testing::HasSubstr("has room for 0")) << "it doesn't fit, whatever the number";
  now += Seconds(600);
  EXPECT_THAT(why("waits"), testing::HasSubstr("has room for 1"));
}

TEST_F(Wakes, ARefusalsWordsKnowTheNodesAsTheyAre) {
  add_job("waits", 2, 5);
  EXPECT_THAT(why("waits"), testing::Not(testing::HasSubstr("cordoned")));
  json cordoned = node("n3");
  cordoned["spec"]["unschedulable"] = true;
  put("nodes", cordoned);
  EXPECT_THAT(why("waits"), testing::HasSubstr("n3 is cordoned"));
  put("nodes", node("n3"));
  EXPECT_THAT(why("waits"), testing::Not(testing::HasSubstr("cordoned")));
}

TEST_F(Wakes, ADaemonSetTakesItsRoomForGood) {
  add_job("waits", 10, 5);
  EXPECT_THAT(why("waits"), testing::Not(testing::HasSubstr("without more nodes")));
  json agent = other_pod("agent", "n3", "4");
  agent["metadata"]["ownerReferences"] = json::array({{{"kind", "DaemonSet"}, {"name", "agent"}}});
  other_pods().put(agent.dump());
  EXPECT_THAT(why("waits"), testing::HasSubstr("without more nodes"));
}

}  // namespace
}  // namespace atl::ctl
