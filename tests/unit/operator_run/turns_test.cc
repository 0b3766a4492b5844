// Whose turn it is when room comes free: nobody's who can't take it.
#include <gmock/gmock.h>

#include "operator_kube/fake_clock.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

/// Two gangs of two servers that are alike, on a cluster with one free node.
struct Turns : testing::Test {
  Stage stage;

  void SetUp() override {
    for (const char* node : {"n1", "n2", "n3"}) stage.cluster.occupy(node, 3000, std::string("app-") + node);
    for (const char* job : {"first", "second"}) stage.submit(job);
    stage.run(120);
    for (const char* job : {"first", "second"}) ASSERT_EQ(stage.reason(kPlaced, job), "NoRoom");
  }
  /// Makes room for one of them.
  void free_a_node() { stage.cluster.pods.erase("app-n1"); }
  void refuse(const std::string& verb, const std::string& plural, const std::string& job) {
    stage.api.refuse = [=](const std::string& method,
                           const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
      if (method != verb || target.plural != plural || !target.name.starts_with(job)) return {};
      return FakeApi::Refusal{403, "Forbidden", "exceeded quota: team"};
    };
  }
  bool is_placed(const std::string& job) { return holds(stage.status(job).conditions, kPlaced); }
};

TEST_F(Turns, ItIsNobodysWhosePodsAreRefused) {
  refuse("POST", "pods", "first-");
  stage.cluster.pods.erase("first-1-0");
  stage.run(5);
  ASSERT_EQ(stage.reason(kCreated, "first"), "Refused");
  ASSERT_EQ(stage.reason(kPlaced, "first"), "NoRoom");
  free_a_node();
  stage.run(5);
  EXPECT_TRUE(is_placed("second")) << "at once, not when it happens to be looked at again";
}

TEST_F(Turns, ItIsNobodysWhoIsDeleted) {
  stage.job("first")["metadata"]["deletionTimestamp"] = text_of(stage.cluster.now);
  stage.job("first")["metadata"]["finalizers"] = {"example.com/keep"};
  stage.run(5);
  free_a_node();
  stage.run(5);
  EXPECT_TRUE(is_placed("second"));
}

TEST_F(Turns, WhoCannotWriteItsStatusIsTriedLessAndLessOften) {
  refuse("PATCH", "gnnjobs", "first");
  free_a_node();
  stage.run(5);
  EXPECT_TRUE(is_placed("second")) << "the room is free again at once";
  stage.cluster.pods.erase("app-n2");
  stage.cluster.pods.erase("app-n3");
  stage.api.writes.clear();
  stage.run(200);
  EXPECT_LT(stage.count("PATCH gnnjobs first"), 20) << "room that it gives back is no news for itself";
  stage.api.refuse = {};
  stage.run(300, [&] { return is_placed("first"); });
  EXPECT_TRUE(is_placed("first"));
}

TEST(Repeats, HoldBackWhatIsCarriedOutAgainAndAgain) {
  kube::FakeClock clock;
  Repeats repeats(clock);
  const Decision decision;
  for (int times = 0; times < 3; ++times) {
    EXPECT_FALSE(repeats.holds_back("team/cora")) << times;
    repeats.done("team/cora", decision);
  }
  EXPECT_TRUE(repeats.holds_back("team/cora"));
  EXPECT_FALSE(repeats.holds_back("team/other"));
  clock.advance(repeats.wait("team/cora", decision));
  EXPECT_FALSE(repeats.holds_back("team/cora"));
}

}  // namespace
}  // namespace atl::ctl
