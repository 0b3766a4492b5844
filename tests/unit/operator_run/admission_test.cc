// Answers of the API server and its webhooks about a job's objects, before they are made and when they are.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Admission : testing::Test {
  Stage stage;

  std::string said(const char* condition) {
    const Status status = stage.status();
    const Condition* found = find_condition(status.conditions, condition);
    return found ? found->reason + ": " + found->message : "";
  }
  /// A gang waits at its gates, room comes, and somebody refuses to let the pods go. The refusal is told, the
  /// release tried again, and the job runs once it isn't refused any more.
  void expect_told(const FakeApi::Refusal& refusal) {
    for (const char* node : {"n1", "n2", "n3"}) stage.cluster.occupy(node, 3000, std::string("app-") + node);
    stage.submit("cora");
    stage.run(120);
    ASSERT_EQ(stage.reason(kPlaced), "NoRoom");
    bool is_strict = true;
    stage.api.refuse = [&](const std::string& method,
                           const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
      if (!is_strict || method != "PATCH" || target.plural != "pods") return {};
      return refusal;
    };
    for (const char* node : {"n1", "n2", "n3"}) stage.cluster.pods.erase(std::string("app-") + node);
    stage.run(30);
    EXPECT_THAT(said(kCreated), AllOf(HasSubstr("Refused: Pod cora-"), HasSubstr("no changes today")));
    EXPECT_LT(stage.count("PATCH pods cora-0-0"), 30) << "it is tried less and less often";
    is_strict = false;
    stage.run(300, [&] { return stage.state() == "Running"; });
    EXPECT_EQ(stage.state(), "Running");
    EXPECT_THAT(said(kCreated), HasSubstr("Made"));
  }
  void submit_with_template() { stage.submit("cora", {{"/spec/template/spec/dnsPolicy", "ClusterFirst"}}); }
};

TEST_F(Admission, AWebhookThatKeepsPodsAtTheirGateIsNamedAndTriedAgain) {
  expect_told({403, "Forbidden", "admission webhook \"freeze\" denied the request: no changes today"});
}

/// As an API server words it, with the code of a policy that gives no reason.
TEST_F(Admission, APolicyThatKeepsPodsAtTheirGateIsNamedAndTriedAgain) {
  expect_told({422, "Invalid",
               "pods \"cora-0-0\" is forbidden: ValidatingAdmissionPolicy 'freeze' with binding 'all' denied "
               "request: no changes today"});
}

TEST_F(Admission, APodThatHasChangedIsNoRefusalWhateverItsJobIsCalled) {
  for (const char* node : {"n1", "n2", "n3"}) stage.cluster.occupy(node, 3000, std::string("app-") + node);
  stage.submit("webhook");
  stage.run(120);
  ASSERT_EQ(stage.reason(kPlaced, "webhook"), "NoRoom");
  int conflicts = 0;
  stage.api.refuse = [&](const std::string& method,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (method != "PATCH" || target.plural != "pods" || conflicts > 0) return {};
    ++conflicts;
    return FakeApi::Refusal{
        409, "Conflict",
        "Operation cannot be fulfilled on pods \"" + target.name + "\": it has been modified"};
  };
  for (const char* node : {"n1", "n2", "n3"}) stage.cluster.pods.erase(std::string("app-") + node);
  bool was_refused = false;
  stage.run(300, [&] {
    was_refused |= stage.reason(kCreated, "webhook") == "Refused";
    return stage.state("webhook") == "Running";
  });
  ASSERT_EQ(conflicts, 1);
  EXPECT_EQ(stage.state("webhook"), "Running");
  EXPECT_FALSE(was_refused) << "nobody has to mend anything";
}

TEST_F(Admission, AWebhookThatDoesNotAnswerIsNamedAndTriedAgain) {
  bool is_down = true;
  stage.api.refuse = [&](const std::string& method,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (!is_down || method != "POST" || target.plural != "pods") return {};
    return FakeApi::Refusal{500, "InternalError",
                            "failed calling webhook \"pods.example.com\": connection refused"};
  };
  stage.submit("cora");
  stage.run(120);
  EXPECT_THAT(
      said(kCreated),
      AllOf(HasSubstr("Refused: Pod cora-prepare is refused by the API server: failed calling webhook"),
            HasSubstr("connection refused")));
  EXPECT_LT(stage.count("POST pods cora-prepare"), 30) << "it is tried less and less often";
  is_down = false;
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

struct KeptPods : Admission {
  bool is_strict = false;
  FakeApi::Refusal words;
  int tries = 0;

  void SetUp() override {
    stage.api.refuse = [&](const std::string& method,
                           const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
      if (!is_strict || method != "DELETE" || target.plural != "pods") return {};
      ++tries;
      return words;
    };
  }
  /// Of that reason, and how often each was said.
  std::vector<int> events(const std::string& reason) {
    stage.controller->flush_events();
    std::vector<int> counts;
    for (const auto& [name, event] : stage.api.events)
      if (event.value("reason", "") == reason) counts.push_back(event.value("count", 0));
    return counts;
  }
};

/// Whatever code a policy or webhook chooses, also that of an object which is gone or has changed.
TEST_F(KeptPods, ArePartOfTheStatusInTheApiServersWords) {
  const FakeApi::Refusal refusals[] = {
      {403, "Forbidden", "admission webhook \"keep\" denied the request: no deletions today"},
      {409, "Conflict", "admission webhook \"keep\" denied the request: no deletions today"},
      {404, "NotFound", "admission webhook \"keep\" denied the request: no deletions today"},
      {422, "Invalid",
       "pods \"cora-launcher-1\" is forbidden: ValidatingAdmissionPolicy 'keep' with binding 'all' denied "
       "request: no deletions today"}};
  int jobs = 0;
  for (const FakeApi::Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.code);
    words = refusal;
    const std::string name = "job-" + std::to_string(jobs++);
    stage.cluster.trainings[name].seconds = 2000;
    stage.submit(name);
    stage.run(300, [&] { return stage.state(name) == "Running"; });
    stage.job(name)["spec"]["runPolicy"]["suspend"] = true;
    stage.cluster.touch(Kind::kJob, name);
    is_strict = true;
    tries = 0;
    const int statuses = stage.count("PATCH gnnjobs " + name);
    stage.run(600);
    const Status status = stage.status(name);
    ASSERT_TRUE(holds(status.conditions, kDeletionRefused));
    EXPECT_THAT(
        find_condition(status.conditions, kDeletionRefused)->message,
        AllOf(HasSubstr("Pod " + name + "-launcher-1 is to be deleted, which the API server refuses: "),
              HasSubstr("no deletions today")));
    EXPECT_EQ(stage.reason(kSuspended, name), "Suspending");
    EXPECT_LT(tries, 40) << "it is tried less and less often";
    EXPECT_LT(stage.count("PATCH gnnjobs " + name) - statuses, 5) << "and said once";
    is_strict = false;
    stage.run(400, [&] { return stage.state(name) == "Suspended"; });
    EXPECT_EQ(stage.state(name), "Suspended");
    EXPECT_FALSE(holds(stage.status(name).conditions, kDeletionRefused));
  }
  EXPECT_THAT(events("DeletionRefused"), testing::Contains(1));
}

TEST_F(KeptPods, OfAJobThatHasEndedAreToldByAnEvent) {
  words = {403, "Forbidden", "admission webhook \"keep\" denied the request: no deletions today"};
  stage.submit("cora");
  stage.run(300, [&] { return stage.state() == "Running"; });
  is_strict = true;
  stage.run(300, [&] { return stage.has_ended(); });
  ASSERT_EQ(stage.state(), "Succeeded");
  tries = 0;
  const int statuses = stage.count("PATCH gnnjobs cora");
  stage.run(600);
  EXPECT_GT(tries, 0);
  EXPECT_LT(tries, 60) << "two pods, less and less often";
  EXPECT_EQ(stage.count("PATCH gnnjobs cora"), statuses) << "a job that has ended keeps its status";
  EXPECT_THAT(events("DeletionRefused"), SizeIs(1)) << "counted where it repeats";
  is_strict = false;
  stage.run(400, [&] { return stage.cluster.pods_of("cora", kWorkerRole).empty(); });
  EXPECT_THAT(stage.cluster.pods_of("cora", kWorkerRole), IsEmpty());
}

TEST_F(Admission, OfJobsThatDifferInNamesAloneOneIsTried) {
  const json dns = {{"spec", {{"dnsPolicy", "ClusterFirst"}}}};
  for (const char* name : {"one", "two", "three"})
    stage.submit(name, {{"/spec/template", dns}, {"/spec/placement/ranks", 2}});
  stage.run(30);
  EXPECT_THAT(stage.api.trials, SizeIs(1));
  stage.submit("other", {{"/spec/template", {{"spec", {{"dnsPolicy", "Default"}}}}}});
  stage.run(5);
  EXPECT_THAT(stage.api.trials, SizeIs(2)) << "it has another template";
}

TEST_F(Admission, AFaultIsNotTakenForGranted) {
  int judged = 0;
  stage.api.judge = [&](const json&) -> std::optional<FakeApi::Refusal> {
    return FakeApi::Refusal{422, "Invalid", "Pod is invalid: " + std::to_string(++judged)};
  };
  for (const char* name : {"one", "two"})
    stage.submit(name, {{"/spec/template", {{"spec", {{"dnsPolicy", "Sometimes"}}}}}});
  stage.run(30);
  EXPECT_EQ(judged, 2);
}

TEST_F(Admission, ATemplateIsTriedOnceAJob) {
  submit_with_template();
  stage.run(200, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  ASSERT_THAT(stage.api.trials, SizeIs(1));
  EXPECT_EQ(stage.api.trials[0].at("spec").at("dnsPolicy"), "ClusterFirst");
}

TEST_F(Admission, AWrongTemplateFailsTheJobInTheServersWords) {
  const std::pair<int, const char*> verdicts[] = {
      {400,
       "Pod in version \"v1\" cannot be handled as a Pod: strict decoding error: unknown field \"spec.dns\""},
      {400,
       "Pod in version \"v1\" cannot be handled as a Pod: json: cannot unmarshal number into Go struct field "
       "EnvVar.spec.dns of type string"},
      {422, "Pod \"cora-0-0\" is invalid: spec.dns: Invalid value"}};
  for (const auto& [code, words] : verdicts) {
    Stage other;
    other.api.judge = [code = code, words = words](const json&) {
      return FakeApi::Refusal{code, "Invalid", words};
    };
    other.submit("cora", {{"/spec/template/spec/dnsPolicy", "Wrong"}});
    other.run(20);
    const Status status = other.status();
    const Condition* failed = find_condition(status.conditions, kFailed);
    ASSERT_TRUE(failed) << code;
    EXPECT_EQ(failed->reason, "InvalidSpec");
    EXPECT_THAT(failed->message, HasSubstr("spec.dns"));
    EXPECT_THAT(other.cluster.pods, IsEmpty());
  }
}

TEST_F(Admission, WhatMayPassAnotherDayIsNotTheTemplatesFault) {
  const std::pair<int, const char*> verdicts[] = {
      {403, "exceeded quota: team"},
      {400, "admission webhook \"x\" does not support dry run"},
      {400, "admission webhook \"x\" denied the request: it cannot be handled as a Pod: no pods today"},
      {422, "admission webhook \"x\" denied the request: no pods today"},
      {422, "pods \"cora-0-0\" is forbidden: ValidatingAdmissionPolicy 'x' denied request: no pods today"},
      {500, "failed calling webhook \"x\": connection refused"}};
  for (const auto& [code, words] : verdicts) {
    Stage other;
    other.api.judge = [code = code, words = words](const json&) {
      return FakeApi::Refusal{code, "Forbidden", words};
    };
    other.submit("cora", {{"/spec/template/spec/dnsPolicy", "ClusterFirst"}});
    other.run(200, [&] { return other.has_ended(); });
    EXPECT_EQ(other.state(), "Succeeded") << words;
  }
}

}  // namespace
}  // namespace atl::ctl
