// A node that goes, or takes nothing more, after a gang was to have it and before that is written: the gang
// is decided on again.
#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "operator_run/many_gangs.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::Contains;
using testing::Not;

/// A gang that has found its nodes, which nobody has written yet.
struct ChangedNodes : testing::Test {
  Stage stage;
  std::string node;  // one of its nodes, on which no pod of it is yet

  void SetUp() override {
    for (const char* name : {"n1", "n2", "n3"}) stage.cluster.occupy(name, 3000, std::string("app-") + name);
    stage.submit("one");
    stage.run(60);
    ASSERT_EQ(stage.reason(kPlaced, "one"), "NoRoom");
    stage.controller->job_changed("team/one", "");
    stage.work();  // where its claims can be used is known for a while
    for (const char* name : {"n1", "n2", "n3"}) stage.cluster.pods.erase(std::string("app-") + name);
    stage.tell_caches();
    stage.clock.advance(std::chrono::seconds(1));
    decide();
    for (const char* name : {"n1", "n2", "n3"})
      if (stage.caches->room().jobs_on(name).contains("team/one") && stage.caches->pods_on(name).empty())
        node = name;
    ASSERT_FALSE(node.empty());
  }
  /// Looks at jobs until something is decided, and writes nothing.
  void decide() {
    const std::jthread looks([&](const std::stop_token& stop) { stage.controller->look(stop); });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (stage.caches->room().bookings() == 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  void expect_another_node() {
    ASSERT_EQ(stage.status("one").servers.size(), 0U) << "nothing is written yet";
    stage.work();
    ASSERT_EQ(stage.reason(kPlaced, "one"), "Planned");
    for (const ServerPlace& server : stage.status("one").servers) EXPECT_NE(server.node, node);
    for (const auto& [name, pod] : stage.cluster.pods) EXPECT_NE(read_pod(pod.dump()).pinned, node) << name;
    stage.run(60, [&] { return stage.state("one") == "Running"; });
    EXPECT_EQ(stage.state("one"), "Running");
    EXPECT_EQ(stage.status("one").withdrawals, 0);
  }
};

TEST_F(ChangedNodes, OneThatIsGoneIsReplacedBeforeAnythingIsWritten) {
  stage.api.hidden_nodes = {node};
  expect_another_node();
}

TEST_F(ChangedNodes, OneThatIsCordonedIsReplacedBeforeAnythingIsWritten) {
  stage.cluster.nodes.at(node).is_cordoned = true;
  expect_another_node();
}

TEST_F(ChangedNodes, OneThatDoesNotAnswerIsReplacedBeforeAnythingIsWritten) {
  stage.cluster.nodes.at(node).is_dead = true;
  expect_another_node();
}

/// Its change comes before the gang has any place there, so that it is no news to the gang.
struct ChangedWhilePlanned : ManyGangs {
  std::string changed;  // the first node of the first plan

  void SetUp() override {
    ManyGangs::SetUp();
    search_plan = [this](const Gang& gang, const Snapshot& snapshot) {
      GangPlan plan = plan_gang(gang, snapshot);
      if (changed.empty()) {
        changed = plan.nodes.at(0);
        json cordoned = node(changed);
        cordoned["spec"]["unschedulable"] = true;
        put("nodes", cordoned);
      }
      return plan;
    };
  }
};

TEST_F(ChangedWhilePlanned, OneIsReplacedByTheSameLook) {
  add_job("fits", 3);
  const Decision decision = look("fits", false);
  ASSERT_TRUE(decision.status);
  std::vector<std::string> nodes;
  for (const ServerPlace& server : decision.status->servers) nodes.push_back(server.node);
  EXPECT_EQ(nodes.size(), 3U);
  EXPECT_THAT(nodes, Not(Contains(changed)));
  EXPECT_EQ(plans, 2);
}

}  // namespace
}  // namespace atl::ctl
