// Objects that the API server refuses, that belong to somebody else, or that were made to look like a job's.
#include <gmock/gmock.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(Controller, SaysWhatTheServerDoesNotTake) {
  Stage stage;
  stage.submit("cora");
  bool is_exhausted = true;
  stage.api.refuse = [&](const std::string& method,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (!is_exhausted || method != "POST" || !target.name.starts_with("cora-0")) return {};
    return FakeApi::Refusal{403, "Forbidden", "exceeded quota: team"};
  };
  stage.run(60);
  EXPECT_EQ(stage.reason(kCreated), "Refused");
  EXPECT_THAT(find_condition(stage.status().conditions, kCreated)->message,
              HasSubstr("exceeded quota: team"));
  EXPECT_LT(stage.count("POST pods cora-0-0"), 25) << "it is tried less and less often";
  is_exhausted = false;
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

TEST(Controller, SaysAtOnceThatAnObjectIsRefusedThatIsNoPod) {
  for (const auto& [plural, object] : {std::pair{"secrets", "Secret cora-keys"},
                                       {"configmaps", "ConfigMap cora-job-"},
                                       {"networkpolicies", "NetworkPolicy cora"}}) {
    for (const int code : {403, 422}) {
      Stage stage;
      stage.submit("cora");
      stage.api.refuse = [&, refused = std::string(plural)](
                             const std::string& method,
                             const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
        if (method != "POST" || target.plural != refused) return {};
        return FakeApi::Refusal{code, "Forbidden", target.name + ": no more of these in namespace team"};
      };
      stage.run(2);
      EXPECT_EQ(stage.reason(kCreated), "Refused");
      const Status status = stage.status();
      EXPECT_THAT(find_condition(status.conditions, kCreated)->message, HasSubstr(object));
      EXPECT_THAT(find_condition(status.conditions, kCreated)->message,
                  HasSubstr("no more of these in namespace team"));
    }
  }
}

TEST(Controller, LeavesWhatIsSomebodyElsesAndSaysSo) {
  Stage stage;
  stage.submit("cora");
  stage.cluster.create(Kind::kNetworkPolicy, "cora",
                       {{"metadata", {{"name", "cora"}, {"namespace", "team"}}}});
  stage.run(60);
  EXPECT_EQ(stage.reason(kCreated), "NameTaken");
  EXPECT_TRUE(stage.cluster.pods.empty());
  EXPECT_TRUE(stage.cluster.objects.contains({Kind::kNetworkPolicy, "cora"}));
  stage.cluster.objects.erase({Kind::kNetworkPolicy, "cora"});
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

TEST(Controller, JobsOfAnotherClassAreAnotherOperators) {
  Stage stage;
  stage.submit("cora", {{"/metadata/labels", {{kClassLabel, "other"}}}});
  stage.run(60);
  EXPECT_TRUE(stage.api.writes.empty());
  EXPECT_TRUE(stage.cluster.pods.empty());
  stage.job()["metadata"]["labels"][kClassLabel] = kDefaultClass;
  stage.run(30);
  EXPECT_FALSE(stage.cluster.pods.empty());
  stage.job()["metadata"]["labels"][kClassLabel] = "other";
  stage.run(1);
  const auto writes = stage.api.writes.size();
  stage.run(60);
  EXPECT_EQ(stage.api.writes.size(), writes) << "handed over while it ran";
  stage.job()["metadata"].erase("labels");
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

/// A debugging pod, somebody's exporter: with the job's label it reaches the ranks through the job's network
/// policy.
TEST(Controller, AHelperPodWithTheJobsLabelNeitherBlocksNorCounts) {
  Stage stage;
  stage.submit("cora");
  const json labels = {{kJobLabel, "cora"},
                       {kManagedByLabel, kManager},
                       {kRoleLabel, kWorkerRole},
                       {kServerLabel, "0"},
                       {kIncarnationLabel, "9"}};
  stage.cluster.create(Kind::kPod, "helper",
                       {{"metadata", {{"name", "helper"}, {"namespace", "team"}, {"labels", labels}}},
                        {"spec", {{"nodeName", "n1"}, {"containers", {{{"name", "shell"}}}}}}});
  stage.cluster.create(Kind::kConfigMap, "notes",
                       {{"metadata", {{"name", "notes"}, {"namespace", "team"}, {"labels", labels}}}});
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded") << stage.job().dump(1);
  EXPECT_EQ(stage.count("POST pods cora-0-0"), 1);
  EXPECT_TRUE(stage.cluster.pods.contains("helper")) << "it is nobody's to take away";
  EXPECT_TRUE(stage.cluster.objects.contains({Kind::kConfigMap, "notes"}));
}

TEST(Controller, ReadsNoSecrets) {
  Stage stage;
  stage.submit("cora");
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  for (const std::string& read : stage.api.reads) EXPECT_FALSE(read.starts_with("secrets")) << read;
  for (const Feed& feed : stage.controller->caches().feeds())
    EXPECT_FALSE(feed.path.ends_with("/secrets")) << "whoever may list some may read all";
}

TEST(Controller, TakesNoKeysFromASecretThatItDidNotMake) {
  Stage stage;
  stage.submit("cora");
  std::string taken;
  stage.api.refuse = [&](const std::string& method,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (method != "POST" || target.plural != "secrets" || !taken.empty()) return {};
    taken = target.name;
    return FakeApi::Refusal{409, "AlreadyExists", target.name + " already exists"};
  };
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  EXPECT_NE(stage.status().keys, taken);
  EXPECT_TRUE(stage.cluster.objects.contains({Kind::kSecret, stage.status().keys}));
}

TEST(Controller, SaysWhichObjectLostItsLabelsAndTriesLessAndLessOften) {
  Stage stage;
  stage.submit("cora");
  stage.run(2);
  json& labels = stage.cluster.objects.at({Kind::kNetworkPolicy, "cora"})["metadata"]["labels"];
  const json before = labels;
  labels.erase(kJobLabel);
  stage.run(60);
  EXPECT_EQ(stage.reason(kCreated), "Refused");
  const Status status = stage.status();
  EXPECT_THAT(find_condition(status.conditions, kCreated)->message,
              AllOf(HasSubstr("NetworkPolicy cora"), HasSubstr("add atoll.dev/job=cora")));
  EXPECT_LT(stage.count("POST networkpolicies cora"), 25);
  stage.cluster.objects.at({Kind::kNetworkPolicy, "cora"})["metadata"]["labels"] = before;
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

}  // namespace
}  // namespace atl::ctl
