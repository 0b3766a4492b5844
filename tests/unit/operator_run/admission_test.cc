// Answers of the API server and its webhooks about a job's objects, before they are made and when they are.
#include <gmock/gmock.h>

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
    EXPECT_THAT(failed->message, HasSubstr("template.spec.dns"));
    EXPECT_THAT(other.cluster.pods, IsEmpty());
  }
}

TEST_F(Admission, WhatMayPassAnotherDayIsNotTheTemplatesFault) {
  const std::pair<int, const char*> verdicts[] = {
      {403, "exceeded quota: team"},
      {400, "admission webhook \"x\" does not support dry run"},
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
