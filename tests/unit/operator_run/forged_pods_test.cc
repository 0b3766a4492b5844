// Pods that others have given the operator's labels and annotations: like anybody's, they take the room where
// they are bound, and no more.
#include <gmock/gmock.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A tenant's pods, of a namespace in which no GNNJob of theirs is.
struct ForgedPods : testing::Test {
  Stage stage;

  /// As large as a server, on every node.
  void forge(const json& metadata = json::object(), const json& requests = {{"cpu", "3"}}) {
    const json container = {{"resources", {{"requests", requests}}}};
    for (const auto& [node, state] : stage.cluster.nodes) {
      const std::string name = "forged-on-" + node;
      json pod = {{"metadata",
                   {{"name", name},
                    {"namespace", "team"},
                    {"uid", name},
                    {"labels", {{kJobLabel, "evil"}, {kManagedByLabel, kManager}}},
                    {"annotations", {{kPinnedAnnotation, node}}}}},
                  {"spec",
                   {{"schedulingGates", json::array({{{"name", "example.com/mine"}}})},
                    {"containers", {container, container}}}},
                  {"status", {{"phase", "Pending"}}}};
      pod["metadata"].merge_patch(metadata);
      stage.cluster.pods[name] = std::move(pod);
    }
  }
  /// To the nodes that they name.
  void bind() {
    for (auto& [name, pod] : stage.cluster.pods)
      if (name.starts_with("forged")) pod["spec"]["nodeName"] = name.substr(name.rfind('-') + 1);
  }
  static json owned_by(const std::string& uid) {
    return {{"ownerReferences",
             json::array({{{"kind", "GNNJob"}, {"name", "evil"}, {"uid", uid}, {"controller", true}}})}};
  }
  void expect_a_job_to_start() {
    stage.submit("cora");
    stage.run(60, [&] { return stage.state() == "Running"; });
    EXPECT_EQ(stage.state(), "Running") << stage.status().conditions.back().message;
  }
};

TEST_F(ForgedPods, PinnedOnesHoldNoRoom) {
  forge();
  expect_a_job_to_start();
}

TEST_F(ForgedPods, NorDoThoseThatNameAnOwnerWhichIsNotThere) {
  forge(owned_by("made up"));
  expect_a_job_to_start();
}

TEST_F(ForgedPods, NorThoseOfAJobThatDidNotMakeThem) {
  stage.submit("evil", {{"/spec/runPolicy/suspend", true}});
  forge(owned_by("another uid"));
  expect_a_job_to_start();
}

TEST_F(ForgedPods, NorThoseThatClaimToBeAnotherJobs) {
  forge({{"labels", {{kJobLabel, "cora"}}}});
  expect_a_job_to_start();
}

TEST_F(ForgedPods, WhatAskForMoreThanCanBeCountedLeaveNoRoom) {
  forge(json::object(), {{"cpu", "1m"}, {"memory", "9E"}});
  bind();
  stage.submit("cora");
  stage.run(60);
  EXPECT_EQ(stage.reason(kPlaced), "NoRoom")
      << "two containers of theirs ask for 2^64 bytes, which isn't -2^63";
}

TEST_F(ForgedPods, BoundOnesAreNoJobsThatEndSomeDay) {
  stage.reserve_after = Seconds(30);
  stage.start();
  stage.api.refuse = [](const std::string& method,
                        const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (method != "POST" || target.plural != "pods" || target.name == "cora-prepare") return {};
    return FakeApi::Refusal{403, "Forbidden", "not yet"};
  };
  stage.submit("cora");
  stage.run(10);
  stage.api.refuse = {};
  forge();
  bind();
  stage.run(90);
  const Status status = stage.status();
  ASSERT_EQ(stage.reason(kPlaced), "NoRoom");
  EXPECT_THAT(find_condition(status.conditions, kPlaced)->message, Not(HasSubstr("kept for it")));
}

}  // namespace
}  // namespace atl::ctl
