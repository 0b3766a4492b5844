// A job's objects beside its pods: checked before the first is made, made once, and restored where pods need
// them.
#include <gmock/gmock.h>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

struct Belongings : testing::Test {
  World world;

  bool has(Kind kind, const std::string& name) { return world.cluster.objects.contains({kind, name}); }
  void take_away(Kind kind, const std::string& name) {
    ASSERT_EQ(world.cluster.objects.erase({kind, name}), 1u);
    world.cluster.is_changed = true;
  }
  std::vector<std::string> secrets() const {
    std::vector<std::string> names;
    for (const auto& [key, object] : world.cluster.objects)
      if (key.first == Kind::kSecret) names.push_back(key.second);
    return names;
  }
  std::string failure() {
    const Status status = world.atoll.status();
    const Condition* found = find_condition(status.conditions, kFailed);
    return found ? found->reason + ": " + found->message : "";
  }
};

TEST_F(Belongings, AJobThatRunsGetsItsNetworkPolicyBack) {
  world.atoll.submit(sample_job_json());
  world.until_training();
  take_away(Kind::kNetworkPolicy, "cora");
  world.atoll.run(2);
  EXPECT_TRUE(has(Kind::kNetworkPolicy, "cora"));
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1) << "the ranks run on";
}

TEST_F(Belongings, NewKeysWaitForTheNextAttempt) {
  world.atoll.submit(sample_job_json());
  world.until_training();
  take_away(Kind::kSecret, "cora-keys-1");
  world.atoll.run(2);
  EXPECT_THAT(secrets(), IsEmpty()) << "those that run don't know others";
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
}

TEST_F(Belongings, KeysThatAreGoneWhenPodsAreMadeAreMadeAnew) {
  world.atoll.submit(sample_job_json());
  world.until_training();
  world.suspend(true);
  world.atoll.run(200, [&] { return world.atoll.state() == "Suspended"; });
  take_away(Kind::kSecret, "cora-keys-1");
  world.suspend(false);
  world.run_to_end();
  expect_success(world);
  EXPECT_THAT(secrets(), ElementsAre("cora-keys-1"));
}

TEST_F(Belongings, ASecretThatWasPutThereBeforehandIsNotUsed) {
  world.atoll.submit(sample_job_json());
  const json planted = {{"metadata", {{"name", "cora-keys-1"}, {"labels", {{kJobLabel, "cora"}}}}}};
  world.cluster.create(Kind::kSecret, "cora-keys-1", planted);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.atoll.status().keys, "cora-keys-2");
}

TEST_F(Belongings, WhatIsPreparedIsNotPreparedAgainForAnotherSize) {
  world.atoll.submit(sample_job_json());
  world.until_training();
  world.suspend(true);
  world.atoll.run(200, [&] { return world.atoll.state() == "Suspended"; });
  world.atoll.job()["spec"]["resources"]["memory"] = "2Gi";
  world.atoll.job()["metadata"]["generation"] = 2;
  world.atoll.job()["spec"]["template"] = {{"metadata", {{"labels", {{"team", "graphs"}}}}}};
  world.suspend(false);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1);
}

TEST_F(Belongings, OtherPartsArePreparedAnew) {
  world.atoll.submit(sample_job_json());
  world.until_training();
  world.suspend(true);
  world.atoll.run(200, [&] { return world.atoll.state() == "Suspended"; });
  world.atoll.job()["spec"]["placement"]["ranks"] = 2;
  world.atoll.job()["metadata"]["generation"] = 2;
  world.suspend(false);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 2);
}

TEST_F(Belongings, ATemplateThatTheApiServerDoesNotTakeFailsBeforeAnythingIsMade) {
  world.atoll.fault_of = [](const std::string&) {
    return "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field "
           "\"spec.containers[0].resource\", unknown field \"spec.volumes[4].persistentVolumeClaim.claim\", unknown "
           "field \"spec.dnsConfigs\"";
  };
  world.atoll.submit(sample_job_json({{"/spec/template/spec/dnsConfigs", json::object()}}));
  world.run_to_end();
  EXPECT_THAT(failure(), HasSubstr("InvalidSpec: the API server refuses pods with this template and these "
                                   "volumes: "));
  EXPECT_THAT(failure(), AllOf(HasSubstr("\"template.spec.containers[engine].resource\""),
                               HasSubstr("\"dataset.volume.persistentVolumeClaim.claim\""),
                               HasSubstr("\"template.spec.dnsConfigs\""), Not(HasSubstr("\"spec."))));
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  EXPECT_THAT(world.cluster.objects, SizeIs(1)) << "the job alone";
}

TEST_F(Belongings, AFaultOfTheVolumeOfPreparedGraphsIsNamedByItsField) {
  world.atoll.fault_of = [](const std::string&) { return "unknown field \"spec.volumes[5].nfs.host\""; };
  world.atoll.submit(sample_job_json({{"/spec/dataset/prepared", {{"nfs", {{"host", "s"}}}}}}));
  world.run_to_end();
  EXPECT_THAT(failure(), HasSubstr("\"dataset.prepared.nfs.host\""));
}

TEST_F(Belongings, OnlyWhatCouldBeWrongIsTriedAndOnlyOnce) {
  std::vector<std::string> tried;
  world.atoll.fault_of = [&](const std::string& pod) {
    tried.push_back(pod);
    return std::string();
  };
  world.atoll.submit(sample_job_json());
  world.run_to_end();
  EXPECT_THAT(tried, IsEmpty()) << "its volumes are claims, it has no template";
  const std::vector<std::pair<const char*, json>> changes = {
      {"/spec/template", {{"metadata", {{"labels", {{"a", "b"}}}}}}},
      {"/spec/dataset/volume", {{"nfs", {{"server", "s"}, {"path", "/"}}}}},
      {"/spec/dataset/prepared", {{"nfs", {{"server", "s"}, {"path", "/"}}}}},
      {"/spec/output/volume", {{"persistentVolumeClaim", {{"claimName", "c"}, {"readonly", true}}}}}};
  for (const auto& [field, value] : changes) {
    tried.clear();
    World other;
    other.atoll.fault_of = world.atoll.fault_of;
    other.atoll.submit(sample_job_json({{field, value}}));
    other.run_to_end();
    expect_success(other);
    EXPECT_THAT(tried, SizeIs(1)) << field;
  }
}

}  // namespace
}  // namespace atl::ctl
