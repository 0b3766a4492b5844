// The room of a gang that was placed in part: pods that were made keep their places before any cache shows
// them.
#include <gmock/gmock.h>

#include "operator/objects/objects.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

TEST(Bookings, OfAStageThatFailsInPartStandWhereItSucceeded) {
  Stage stage;
  const std::map<std::string, std::string> other_pods = {{"n1", "a"}, {"n2", "b"}, {"n3", "c"}};
  for (const auto& [node, name] : other_pods) stage.cluster.occupy(node, 3000, name);
  stage.submit("one");
  stage.submit("two");
  stage.run(120);
  ASSERT_EQ(stage.reason(kPlaced, "one"), "NoRoom");
  ASSERT_EQ(stage.reason(kPlaced, "two"), "NoRoom");
  int refusals = 0;
  stage.api.refuse = [&](const std::string& method,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    const bool is_second = target.plural == "pods" && target.name.find("-1-") != std::string::npos;
    if (method != "PATCH" || !is_second || refusals > 0) return {};
    ++refusals;
    return FakeApi::Refusal{500, "InternalError", "etcd has no leader"};
  };
  for (const auto& [node, name] : other_pods) stage.cluster.pods.erase(name);
  stage.run(3);
  ASSERT_EQ(refusals, 1);
  std::map<std::string, std::vector<std::string>> by_node;
  for (const auto& [name, pod] : stage.cluster.pods)
    if (label_of(pod, kRoleLabel) == kWorkerRole) by_node[read_pod(pod.dump()).pinned].push_back(name);
  for (const auto& [node, pods] : by_node)
    EXPECT_EQ(pods.size(), 1U) << node << ": " << testing::PrintToString(pods);
}

TEST(Bookings, ALauncherWhosePinWasRefusedHasAPlaceBeforeItsWorkersAreReady) {
  Stage stage;
  for (const char* node : {"n1", "n2", "n3"}) stage.cluster.occupy(node, 3000, std::string("app-") + node);
  stage.submit("one");
  stage.run(120);
  ASSERT_EQ(stage.reason(kPlaced, "one"), "NoRoom");
  int refusals = 0;
  stage.api.refuse = [&](const std::string& method,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (method != "PATCH" || target.name != "one-launcher-1" || refusals > 0) return {};
    ++refusals;
    return FakeApi::Refusal{500, "InternalError", "etcd has no leader"};
  };
  for (const char* node : {"n1", "n2", "n3"}) stage.cluster.pods.erase(std::string("app-") + node);
  bool is_held = false;
  stage.run(30, [&] {
    const PodView launcher = read_pod(stage.cluster.pods.at("one-launcher-1").dump());
    is_held |= is_gated(launcher) && !launcher.pinned.empty();
    return !is_gated(launcher);
  });
  ASSERT_EQ(refusals, 1);
  EXPECT_TRUE(is_held) << "else anybody may take its room while the workers start";
}

TEST(Bookings, OfAStatusWithoutAnAnswerStandUntilTheNextLook) {
  Stage stage;
  const std::map<std::string, std::string> other_pods = {{"n1", "a"}, {"n2", "b"}, {"n3", "c"}};
  for (const auto& [node, name] : other_pods) stage.cluster.occupy(node, 3000, name);
  stage.submit("one");
  stage.submit("two");
  stage.run(120);
  ASSERT_EQ(stage.reason(kPlaced, "one"), "NoRoom");
  ASSERT_EQ(stage.reason(kPlaced, "two"), "NoRoom");
  bool is_lost = false;
  stage.api.lose = [&](const std::string& method, const FakeApi::Target& target) {
    if (method != "PATCH" || target.plural != "gnnjobs" || is_lost) return FakeApi::Loss::kNone;
    is_lost = true;
    return FakeApi::Loss::kAnswer;
  };
  stage.cluster.pods.erase("a");  // now there is room for one of them
  stage.run(1);
  for (const char* job : {"one", "two"}) stage.job(job)["metadata"]["annotations"]["note"] = "look";
  stage.run(1);
  ASSERT_TRUE(is_lost);
  EXPECT_NE(stage.reason(kPlaced, "one") == "Planned", stage.reason(kPlaced, "two") == "Planned");
}

}  // namespace
}  // namespace atl::ctl
