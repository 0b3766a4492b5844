// Gangs whose volumes are bound to some nodes, before the API server.
#include <gmock/gmock.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct ClaimPlacesTest : testing::Test {
  Stage stage;

  void bind(const std::string& claim, const std::string& key, const std::string& value) {
    const json rule = {{"key", key}, {"operator", "In"}, {"values", {value}}};
    stage.api.more["persistentvolumeclaims/" + claim] = {{"metadata", {{"name", claim}, {"uid", claim}}},
                                                         {"spec", {{"volumeName", "of-" + claim}}}};
    stage.api.more["persistentvolumes/of-" + claim] = {
        {"metadata", {{"name", "of-" + claim}, {"uid", "of-" + claim}}},
        {"spec",
         {{"nodeAffinity",
           {{"required",
             {{"nodeSelectorTerms", json::array({{{"matchExpressions", json::array({rule})}}})}}}}}}}};
  }
  std::string placed() {
    const Status status = stage.status();
    const Condition* found = find_condition(status.conditions, kPlaced);
    return found ? found->reason + ": " + found->message : "";
  }
};

TEST_F(ClaimPlacesTest, WorkersStandWhereTheDataIsAndServer0WhereItsOutputIs) {
  bind("datasets", "rack", "r2");
  bind("results", "kubernetes.io/hostname", "n4");
  stage.submit("cora");
  stage.run(200, [&] { return stage.state() == "Running"; });
  ASSERT_EQ(stage.status().servers.size(), 2u);
  EXPECT_EQ(stage.status().servers[0].node, "n4");
  EXPECT_EQ(stage.status().servers[1].node, "n3");
}

TEST_F(ClaimPlacesTest, APodHasAsManyRanksAsANodeHasGpusWhereTheDataIs) {
  for (auto& [name, node] : stage.cluster.nodes) node.gpus = 2, node.cores = 8000;
  stage.cluster.nodes["n3"].gpus = 4;
  bind("datasets", "rack", "r1");
  stage.submit("cora", {{"/spec/placement", {{"ranks", 4}}}, {"/spec/resources/nvidia.com~1gpu", 1}});
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.status().pod_size, (PodSize{2, "4 ranks in 2 pods of 2: node n1 has 2 nvidia.com/gpu"}));
  ASSERT_EQ(stage.status().servers.size(), 2u);
  for (const ServerPlace& server : stage.status().servers)
    EXPECT_THAT(server.node, AnyOf("n1", "n2")) << "n3 has 4, out of reach";
}

TEST_F(ClaimPlacesTest, AGangThatHasNoRoomThereWaitsAndSaysWhy) {
  bind("datasets", "kubernetes.io/hostname", "n3");  // two servers don't fit on it
  stage.submit("cora");
  stage.run(300);
  EXPECT_THAT(placed(), HasSubstr("NoRoom: needs 2 servers"));
  EXPECT_THAT(placed(), HasSubstr("volume claim datasets is bound to node n3: no server on n1, n2, n4"));
  EXPECT_THAT(stage.api.writes, Not(Contains(HasSubstr("PATCH pods")))) << "no pod is released to hang";
  bind("datasets", "rack", "r1");  // somebody has moved it
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
}

TEST_F(ClaimPlacesTest, AClaimForOnePodIsNoDataSetOfTwo) {
  bind("datasets", "rack", "r1");
  json& claim = stage.api.more["persistentvolumeclaims/datasets"];
  claim["spec"]["accessModes"] = {"ReadWriteOncePod"};
  stage.submit("cora");
  stage.run(120);
  EXPECT_THAT(placed(),
              HasSubstr("NoRoom: volume claim datasets is ReadWriteOncePod: one pod can mount it, and 2"));
  EXPECT_THAT(stage.api.writes, Not(Contains(HasSubstr("PATCH pods")))) << "no pod is released to hang";
  claim["spec"]["accessModes"] = {"ReadWriteMany"};
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
}

TEST_F(ClaimPlacesTest, AClassThatMakesVolumesSomewhereBindsAnUnboundClaim) {
  stage.api.more["persistentvolumeclaims/results"] = {{"metadata", {{"name", "results"}, {"uid", "c"}}},
                                                      {"spec", {{"storageClassName", "zonal"}}}};
  const json topology = {{"matchLabelExpressions", json::array({{{"key", "rack"}, {"values", {"r2"}}}})}};
  stage.api.more["storageclasses/zonal"] = {{"metadata", {{"name", "zonal"}, {"uid", "s"}}},
                                            {"volumeBindingMode", "WaitForFirstConsumer"},
                                            {"allowedTopologies", json::array({topology})}};
  stage.submit("cora");
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_THAT(stage.status().servers.at(0).node, AnyOf("n3", "n4"));
}

TEST_F(ClaimPlacesTest, WhatMayNotBeReadIsSaidAndTriedAgain) {
  bool is_allowed = false;
  stage.api.refuse = [&](const std::string&,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (is_allowed || target.plural != "persistentvolumes") return {};
    return FakeApi::Refusal{403, "Forbidden", "atoll cannot get persistentvolumes"};
  };
  bind("datasets", "rack", "r2");
  stage.submit("cora");
  stage.run(60);
  EXPECT_THAT(placed(),
              HasSubstr("where volume claim datasets can be used is not known: 403 Forbidden: atoll "
                        "cannot get persistentvolumes"));
  is_allowed = true;
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
}

TEST_F(ClaimPlacesTest, AreNotAskedForAgainAndAgain) {
  bind("datasets", "rack", "r2");
  for (const char* name : {"a", "b", "c", "d", "e"}) stage.submit(name);
  stage.run(20);
  EXPECT_EQ(std::ranges::count(stage.api.reads, "persistentvolumeclaims datasets"), 1);
  EXPECT_EQ(std::ranges::count(stage.api.reads, "persistentvolumes of-datasets"), 1);
}

}  // namespace
}  // namespace atl::ctl
