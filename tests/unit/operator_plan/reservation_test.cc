// Room that is kept for a gang, alone and in a cluster where smaller ones come and go.
#include "operator/plan/demand_class.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>

namespace atl::ctl {
namespace {

using testing::ElementsAre;

/// Nodes of so many cores, half of them in each of two blocks.
Snapshot cluster(int nodes, int cores) {
  Snapshot snapshot;
  for (int n = 1; n <= nodes; ++n) {
    NodeState node;
    node.name = "n" + std::to_string(n);
    node.labels = {{"kubernetes.io/hostname", node.name}, {"block", n <= nodes / 2 ? "b1" : "b2"}};
    node.ready = true;
    node.allocatable = Resources({{"cpu", cores * 1000}});
    snapshot.nodes.push_back(node);
  }
  return snapshot;
}

PodState pod(const std::string& node, int cores, const std::string& job) {
  PodState state;
  state.node = node;
  state.job = job;
  state.requests = Resources({{"cpu", cores * 1000}});
  return state;
}

/// One core for the launcher, and so many for each server.
Gang gang(int servers, int cores, const std::string& job = "team/large") {
  Gang all;
  all.job = job;
  for (int s = 0; s < servers; ++s) all.servers.push_back({s});
  all.server = Resources({{"cpu", cores * 1000}});
  all.launcher = Resources({{"cpu", 1000}});
  all.traffic = Traffic::uniform(servers, 1);
  all.levels = {"block", "kubernetes.io/hostname"};
  all.weights = {10, 1};
  return all;
}

std::vector<int> cores_kept(const Reservation& reservation) {
  std::vector<int> cores;
  for (const PodState& pod : reservation.room) cores.push_back(int(pod.requests.of("cpu") / 1000));
  return cores;
}

TEST(Reservation, TakesWhatIsFreeFirstAndThenWhatLacksLeast) {
  Snapshot on = cluster(4, 8);
  on.pods = {pod("n1", 8, "team/a"), pod("n2", 4, "team/b"), pod("n2", 4, "team/c"), pod("n4", 6, "team/d")};
  const auto kept = reserve(gang(2, 7), on);
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->nodes, ElementsAre("n3", "n4")) << "n3 is free, n4 in part";
  EXPECT_THAT(cores_kept(*kept), ElementsAre(8, 7)) << "a launcher too";
}

TEST(Reservation, LeavesTheRestOfItsNodesToOthers) {
  Snapshot on = cluster(2, 8);
  on.pods = {pod("n1", 6, "team/a"), pod("n2", 6, "team/b")};
  const auto kept = reserve(gang(1, 3), on);
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->nodes, ElementsAre("n1"));
  std::ranges::copy(kept->room, std::back_inserter(on.pods));
  std::erase_if(on.pods, [](const PodState& p) { return p.job == "team/a"; });
  EXPECT_TRUE(plan_gang(gang(1, 3, "team/small"), on).fits) << "eight cores, four kept";
  EXPECT_FALSE(plan_gang(gang(1, 5, "team/small"), on).fits);
}

TEST(Reservation, StaysInOneDomainWhereTheGangMust) {
  Snapshot on = cluster(4, 8);
  on.pods = {pod("n1", 4, "team/a"), pod("n1", 4, "team/b"), pod("n3", 6, "team/c")};
  Gang inside = gang(2, 7);
  inside.within = 0;
  const auto kept = reserve(inside, on);
  ASSERT_TRUE(kept);
  EXPECT_THAT(kept->nodes, ElementsAre("n3", "n4")) << "that block lacks less";
}

TEST(Reservation, IsNotMadeWhereOtherPeoplesPodsStandInTheWay) {
  Snapshot on = cluster(2, 8);
  on.pods = {pod("n1", 2, ""), pod("n2", 8, "team/a")};
  EXPECT_FALSE(reserve(gang(2, 7), on)) << "nobody knows whether they will ever go";
  EXPECT_TRUE(reserve(gang(2, 6), on));
}

TEST(Reservation, IsNotMadeForWhatNeverFits) {
  EXPECT_FALSE(reserve(gang(3, 7), cluster(2, 8)));
  EXPECT_FALSE(reserve(gang(2, 8), cluster(2, 8))) << "and the launcher?";
}

TEST(Reservation, LeavesOutTheNodesOfOthers) {
  Snapshot on = cluster(4, 8);
  for (const char* node : {"n1", "n2", "n3", "n4"}) on.pods.push_back(pod(node, 8, "team/a"));
  const auto any = reserve(gang(2, 7), on);
  ASSERT_TRUE(any);
  EXPECT_THAT(any->nodes, ElementsAre("n1", "n2"));
  EXPECT_THAT(any->claimed, ElementsAre("n1", "n2", "n3", "n4")) << "it may be nearer there some day";
  const auto rest = reserve(gang(2, 7), on, {"n1", "n2"});
  ASSERT_TRUE(rest);
  EXPECT_THAT(rest->nodes, ElementsAre("n3", "n4"));
  EXPECT_FALSE(reserve(gang(2, 7), on, {"n1", "n2", "n3"}));
}

TEST(Reservation, IsNoneOfItsOwnJobsAffair) {
  Snapshot on = cluster(2, 8);
  on.pods = {pod("n1", 8, "team/a")};
  const auto kept = reserve(gang(1, 7), on);
  ASSERT_TRUE(kept);
  std::ranges::copy(kept->room, std::back_inserter(on.pods));
  EXPECT_TRUE(plan_gang(gang(1, 7), on).fits);
}

/// Small jobs of random size and length that take whatever they get, and one large gang.
class Town {
 public:
  Town(unsigned seed, bool keeps) : random_(seed), keeps_(keeps), on_(cluster(6, 8)) {}

  /// The second in which the large gang has room, −1 where it never has.
  int runs_until_placed(int seconds) {
    for (int now = 0; now < seconds; ++now) {
      std::erase_if(on_.pods, [&](const PodState& p) { return ends_.at(p.job) <= now; });
      if (now >= kArrives && plan_gang(large_, on_).fits) return now;
      const auto kept = keeps_ && now >= kArrives + kPatience ? reserve(large_, on_) : std::nullopt;
      for (int tries = 0; tries < 4; ++tries) start_small(now, kept);
    }
    return -1;
  }

  static constexpr int kArrives = 20, kPatience = 30, kLongest = 40;

 private:
  void start_small(int now, const std::optional<Reservation>& kept) {
    const std::string job = "team/" + std::to_string(ends_.size());
    const Gang small = gang(1 + int(random_() % 2), 1 + int(random_() % 4), job);
    Snapshot seen = on_;
    if (kept) std::ranges::copy(kept->room, std::back_inserter(seen.pods));
    const GangPlan plan = plan_gang(small, seen);
    ends_[job] = now + 5 + int(random_() % (kLongest - 5));
    if (!plan.fits) return;
    for (const std::string& node : plan.nodes)
      on_.pods.push_back(pod(node, int(small.server.of("cpu") / 1000), job));
    on_.pods.push_back(pod(plan.launcher, 1, job));
  }

  std::mt19937 random_;
  const bool keeps_;
  Snapshot on_;
  std::map<std::string, int> ends_;
  const Gang large_ = gang(5, 7);
};

TEST(Reservation, BringsALargeGangInOnceTheJobsThatRunHaveEnded) {
  int starved = 0;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const int placed = Town(seed, true).runs_until_placed(150);
    EXPECT_GE(placed, 0) << seed;
    EXPECT_LE(placed, Town::kArrives + Town::kPatience + 2 * Town::kLongest) << seed;
    starved += Town(seed, false).runs_until_placed(150) < 0;
  }
  EXPECT_GT(starved, 8) << "else the stream is too thin to show anything";
}

}  // namespace
}  // namespace atl::ctl
