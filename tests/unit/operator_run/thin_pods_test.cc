// Everybody's pods, with little kept of each.
#include "operator/run/thin_pods.h"

#include <gmock/gmock.h>
#include <malloc.h>

#include <limits>

#include "base/json.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;

struct ThinPodsTest : testing::Test {
  int changes = 0;  // that give room
  ThinPods pods{{[](const std::string& space) { return space == "team"; },
                 [this](const std::string&, bool gives_room) { changes += gives_room; }}};

  static json pod(const std::string& name, const std::string& node, const std::string& cpu,
                  int priority = 0) {
    return {{"metadata", {{"name", name}, {"namespace", "other"}, {"uid", name}}},
            {"spec",
             {{"nodeName", node},
              {"priority", priority},
              {"containers", {{{"resources", {{"requests", {{"cpu", cpu}, {"memory", "1Gi"}}}}}}}}}},
            {"status", {{"phase", "Running"}}}};
  }
  std::int64_t taken(const std::string& node, const char* resource = "cpu") const {
    const NodeTaken sums = pods.taken(node);
    return sums.others.of(resource) + sums.daemons.of(resource);
  }
};

TEST_F(ThinPodsTest, SumsWhatPodsTakeByNode) {
  pods.put(pod("a", "n1", "500m").dump());
  pods.put(pod("b", "n1", "2").dump());
  pods.put(pod("c", "n2", "1").dump());
  EXPECT_EQ(taken("n1"), 2500);
  EXPECT_EQ(taken("n1", "memory"), 2LL << 30);
  EXPECT_EQ(taken("n1", "pods"), 2);
  EXPECT_EQ(taken("n2"), 1000);
  EXPECT_EQ(changes, 0) << "room taken helps nobody who waits";
}

TEST_F(ThinPodsTest, SaysWhereRoomBecomesFree) {
  pods.put(pod("a", "n1", "500m").dump());
  pods.put(pod("b", "n1", "2").dump());
  pods.remove(pod("b", "n1", "2").dump());
  EXPECT_EQ(taken("n1"), 500);
  EXPECT_EQ(changes, 1);
  pods.put(pod("a", "n1", "200m").dump());
  EXPECT_EQ(taken("n1"), 200);
  EXPECT_EQ(changes, 2);
  json ended = pod("a", "n1", "200m");
  ended["status"]["phase"] = "Succeeded";
  pods.put(ended.dump());
  EXPECT_EQ(taken("n1"), 0);
  EXPECT_EQ(changes, 3);
}

TEST_F(ThinPodsTest, LosesNoCountOverPodsThatAskForMoreThanCanBeCounted) {
  const auto greedy = [](const char* name) {
    json made = pod(name, "n1", "1");
    made["spec"]["containers"][0]["resources"]["requests"]["memory"] = "9E";
    return made.dump();
  };
  pods.put(pod("a", "n1", "1").dump());
  pods.put(greedy("b"));
  pods.put(greedy("c"));
  EXPECT_EQ(taken("n1", "memory"), std::numeric_limits<std::int64_t>::max());
  pods.remove(greedy("b"));
  pods.remove(greedy("c"));
  EXPECT_EQ(taken("n1", "memory"), 1LL << 30);
}

TEST_F(ThinPodsTest, ForgetsWhatANewListLacks) {
  pods.begin_list();
  pods.put(pod("a", "n1", "1").dump());
  pods.put(pod("b", "n1", "2").dump());
  pods.end_list();
  pods.begin_list();
  pods.put(pod("b", "n1", "2").dump());
  pods.end_list();
  EXPECT_EQ(pods.size(), 1U);
  EXPECT_EQ(taken("n1"), 2000);
}

TEST_F(ThinPodsTest, KeepsNothingOfNodesThatAreGone) {
  pods.put(pod("stays", "n0", "1").dump());
  for (int n = 1; n <= 1000; ++n) {
    const std::string node = "spot-" + std::to_string(n);
    pods.put(pod("a", node, "1").dump());
    pods.put(pod("b", node, "2").dump());
    EXPECT_EQ(taken(node), 3000);
    pods.remove(pod("b", node, "2").dump());  // and a is bound to the next node
  }
  EXPECT_LE(pods.places(), 3U);
  EXPECT_EQ(taken("spot-999"), 0);
  EXPECT_EQ(taken("spot-1000"), 1000);
  EXPECT_EQ(taken("n0"), 1000);
  EXPECT_THAT(pods.on("spot-1000"), ElementsAre("other/a"));
}

TEST_F(ThinPodsTest, KeepsNothingOfRequestsThatNobodyHasAnyMore) {
  const auto with_scratch = [](const char* name, int mebibytes) {
    json made = pod(name, "n1", "1");
    made["spec"]["containers"][0]["resources"]["requests"]["ephemeral-storage"] =
        std::to_string(mebibytes) + "Mi";
    return made.dump();
  };
  pods.put(with_scratch("stays", 5));
  for (int n = 1; n <= 1000; ++n) {
    pods.put(with_scratch("changes", n));
    pods.put(with_scratch("changes", n));  // as it was
    pods.put(with_scratch("goes", 2000 + n));
    EXPECT_EQ(taken("n1", "ephemeral-storage"), std::int64_t(5 + n + 2000 + n) << 20);
    pods.remove(with_scratch("goes", 2000 + n));
  }
  EXPECT_LE(pods.kinds(), 4U);
  EXPECT_EQ(taken("n1", "ephemeral-storage"), 1005LL << 20);
  EXPECT_EQ(taken("n1", "pods"), 2);
}

TEST_F(ThinPodsTest, LeavesJobsPodsToTheirOwnCache) {
  json ours = pod("a", "n1", "1");
  ours["metadata"]["labels"] = {{"atoll.dev/job", "cora"}};
  ours["metadata"]["namespace"] = "team";
  pods.put(ours.dump());
  EXPECT_EQ(pods.size(), 0U);
  ours["metadata"]["namespace"] = "elsewhere";  // another operator's
  pods.put(ours.dump());
  EXPECT_EQ(taken("n1"), 1000);
}

TEST_F(ThinPodsTest, NamesThoseOnANodeByPriority) {
  pods.put(pod("a", "n1", "1").dump());
  pods.put(pod("b", "n1", "1", 1000).dump());
  pods.put(pod("c", "n2", "1").dump());
  json agent = pod("d", "n1", "1");
  agent["metadata"]["ownerReferences"] = {{{"kind", "DaemonSet"}}};
  pods.put(agent.dump());
  EXPECT_THAT(pods.on("n1"), ElementsAre("other/b", "other/a"));
}

TEST_F(ThinPodsTest, KeepsFiftyThousandInLittleMemory) {
  constexpr int kPods = 50'000;
  pods.put(pod("warm-up", "n0", "1").dump());
  const auto before = mallinfo2().uordblks;
  for (int p = 0; p < kPods; ++p)
    pods.put(pod("deployment-7d9f8b6c5d-" + std::to_string(100'000 + p), "node-" + std::to_string(p % 1000),
                 std::to_string(p % 4000) + "m", p % 7)
                 .dump());
  const auto bytes = mallinfo2().uordblks - before;
  EXPECT_LE(bytes / kPods, 256U);
  EXPECT_EQ(taken("node-1", "pods"), kPods / 1000);
}

}  // namespace
}  // namespace atl::ctl
