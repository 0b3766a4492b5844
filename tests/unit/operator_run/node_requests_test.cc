// For whom nodes may be asked: the first in order, within the installation's limit and a namespace's half.
#include "operator/run/waiting_gangs.h"

#include <gmock/gmock.h>

#include "operator_controller/fake_autoscaler.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

/// The order of jobs: the lower comes first.
Precedence at(int second, const std::string& job) {
  return {0, kBegin + Seconds(second), job};
}

TEST(NodeRequests, ANamespaceHasHalfOfAll) {
  NodeRequests requests(8);
  EXPECT_EQ(requests.why_not("a/first", at(1, "a/first"), 4), "");
  EXPECT_THAT(requests.why_not("a/second", at(2, "a/second"), 1), Not(IsEmpty()));
  EXPECT_EQ(requests.why_not("b/third", at(3, "b/third"), 4), "");
  EXPECT_THAT(requests.why_not("c/fourth", at(4, "c/fourth"), 1), HasSubstr("scaleUp.mostServers"));
}

TEST(NodeRequests, AGangThatIsTooLargeAsksNothingAndBlocksNobody) {
  NodeRequests requests(8);
  EXPECT_THAT(requests.why_not("a/large", at(1, "a/large"), 5), HasSubstr("5 servers"));
  EXPECT_EQ(requests.why_not("a/small", at(2, "a/small"), 4), "");
  EXPECT_EQ(requests.size(), 1U);
}

TEST(NodeRequests, OneThatComesFirstGetsItsRightBack) {
  NodeRequests requests(8);
  EXPECT_EQ(requests.why_not("a/late", at(9, "a/late"), 4), "");
  EXPECT_THAT(requests.why_not("a/early", at(1, "a/early"), 2), Not(IsEmpty())) << "not more than the limit";
  EXPECT_THAT(requests.why_not("a/late", at(9, "a/late"), 4), Not(IsEmpty())) << "it gives way";
  EXPECT_EQ(requests.why_not("a/early", at(1, "a/early"), 2), "");
}

TEST(NodeRequests, WhoeverHasEndedCountsNoMore) {
  NodeRequests requests(8);
  EXPECT_EQ(requests.why_not("a/first", at(1, "a/first"), 4), "");
  requests.forget("a/first");
  EXPECT_EQ(requests.why_not("a/second", at(2, "a/second"), 4), "");
}

/// A controller on two nodes, with an autoscaler that adds them.
struct Growing {
  Stage stage;
  FakeAutoscaler autoscaler{stage.cluster};

  explicit Growing(int most_servers = 64) {
    stage.cluster.nodes.erase("n3");
    stage.cluster.nodes.erase("n4");
    stage.scale_up = ScaleUp::kPlaceholders;
    stage.most_servers = most_servers;
    stage.start();
  }
  void submit(const std::string& name, int servers) {
    stage.submit(name);
    stage.job(name)["spec"]["placement"] = {{"ranks", 2 * servers}, {"ranksPerServer", 2}};
  }
  bool trains(const std::string& name) { return stage.cluster.runs[name].launches > 0; }
  std::vector<std::string> placeholders(const std::string& job) {
    return stage.cluster.pods_of(job, kPlaceholderRole);
  }
};

TEST(Growing, TwoNodesGrowToSixWithoutAHand) {
  Growing world;
  world.submit("cora", 6);
  world.stage.run(300, [&] { return world.stage.has_ended("cora"); });
  EXPECT_EQ(world.stage.state("cora"), "Succeeded");
  EXPECT_THAT(world.stage.cluster.nodes, SizeIs(6));
  EXPECT_THAT(world.placeholders("cora"), IsEmpty());
}

TEST(Growing, TwoGangsOfOneClassGetWhatBothNeedAndNoMore) {
  Growing world;
  world.stage.cluster.training.seconds = 1000;
  world.submit("first", 4);
  world.submit("second", 4);
  world.stage.run(400, [&] { return world.trains("first") && world.trains("second"); });
  EXPECT_TRUE(world.trains("first"));
  EXPECT_TRUE(world.trains("second"));
  EXPECT_LE(world.stage.cluster.nodes.size(), 8U);
}

TEST(Growing, TheLimitHoldsTheLaterOneBack) {
  Growing world(8);
  world.autoscaler.is_silent = true;
  world.submit("first", 4);
  world.stage.run(40, [&] { return !world.placeholders("first").empty(); });
  world.submit("second", 4);
  world.stage.run(120);
  EXPECT_THAT(world.placeholders("first"), Not(IsEmpty()));
  EXPECT_THAT(world.placeholders("second"), IsEmpty());
  const Status status = world.stage.status("second");
  const Condition* placed = find_condition(status.conditions, kPlaced);
  ASSERT_TRUE(placed);
  EXPECT_THAT(placed->message, HasSubstr("scaleUp.mostServers of the chart is 8"));
}

TEST(Growing, TheNextOperatorKeepsToWhatThisOneAskedFor) {
  Growing world(8);
  world.autoscaler.is_silent = true;
  world.submit("first", 4);
  world.stage.run(60);
  ASSERT_THAT(world.placeholders("first"), SizeIs(5));
  world.stage.start();
  world.submit("second", 4);
  world.stage.tell_caches();
  world.stage.controller->look_at_all();
  world.stage.run(120);
  EXPECT_THAT(world.placeholders("first"), SizeIs(5));
  EXPECT_THAT(world.placeholders("second"), IsEmpty());
}

TEST(Growing, AGangThatOnlyReservedRoomHoldsUpAsksNothing) {
  Growing world;
  world.autoscaler.is_silent = true;
  world.stage.cluster.training.seconds = 5000;
  world.submit("a-runs", 1);
  world.stage.run(120, [&] { return world.trains("a-runs"); });
  ASSERT_TRUE(world.trains("a-runs")) << "it has one of the two nodes";
  world.submit("z-whole", 2);
  world.stage.run(400);
  ASSERT_THAT(world.placeholders("z-whole"), SizeIs(3)) << "two servers and a launcher";
  world.submit("c-little", 1);
  world.stage.job("c-little")["metadata"]["creationTimestamp"] = text_of(world.stage.cluster.now);
  world.stage.run(60);
  const Status status = world.stage.status("c-little");
  const Condition* placed = find_condition(status.conditions, kPlaced);
  ASSERT_TRUE(placed);
  EXPECT_THAT(placed->message, HasSubstr("room is reserved for team/z-whole"));
  EXPECT_THAT(placed->message, HasSubstr("the present room would do"));
  EXPECT_THAT(world.placeholders("c-little"), IsEmpty());
}

TEST(Growing, MetricsTellOfGangsThatAsk) {
  Growing world;
  world.autoscaler.is_silent = true;
  world.submit("cora", 6);
  world.stage.run(60);
  EXPECT_THAT(world.stage.controller->metrics_text(),
              HasSubstr("atoll_gang_node_requests{state=\"Asked\"} 1"));
  world.stage.run(930);
  EXPECT_THAT(world.stage.controller->metrics_text(),
              HasSubstr("atoll_gang_node_requests{state=\"NoNodes\"} 1"));
}

}  // namespace
}  // namespace atl::ctl
