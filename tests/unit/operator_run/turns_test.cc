// Whose turn it is when room comes free: nobody's who can't take it.
#include <gmock/gmock.h>

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

}  // namespace
}  // namespace atl::ctl
