// After a write the operator waits for its event, unless that has come already, and keeps the room of pods
// that may exist.
#include "operator/run/act.h"

#include <gmock/gmock.h>

#include "operator/run/feedback.h"
#include "operator/run/parallel.h"
#include "operator_kube/fake_clock.h"
#include "operator_run/fake_api.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr const char* kJob = "team/cora";

struct Act : testing::Test, CacheListener {
  FakeCluster cluster;
  FakeApi api{cluster};
  kube::FakeClock clock;
  kube::Client client{api, {}, {.times = 0}, clock};
  kube::Expectations expectations{clock};
  Caches caches{{}, *this};
  Observed seen;

  Act() {
    seen.job.meta.name = "cora";
    seen.job.meta.space = "team";
    add("cora-0-0");
    api.push(caches);
  }
  void job_changed(const std::string& job, const std::string& mark) override { expectations.seen(job, mark); }
  void job_gone(const std::string&) override {}
  void room_changed() override {}

  static json pod(const std::string& name) {
    return {{"metadata",
             {{"name", name},
              {"namespace", "team"},
              {"uid", "uid of " + name},
              {"labels", {{kJobLabel, "cora"}, {kManagedByLabel, kManager}}}}},
            {"spec", {{"nodeName", "n1"}, {"containers", {{{"name", kEngine}}}}}},
            {"status", {{"phase", "Running"}}}};
  }
  void add(const std::string& name) {
    cluster.create(Kind::kPod, name, pod(name));
    json& made = cluster.pods.at(name);
    made["metadata"]["uid"] = "uid of " + name;
    made["spec"]["nodeName"] = "n1";
    made["status"]["phase"] = "Running";
  }
  static Write removal(const std::string& name, std::optional<int> grace = {}) {
    return {Write::Verb::kDelete, Kind::kPod, name, "", "uid of " + name, grace};
  }
  static Write creation(const std::string& name) {
    return {Write::Verb::kCreate, Kind::kPod, name, pod(name).dump(), "", {}};
  }
  WriteResult write(const std::vector<Write>& stage) {
    Decision decision;
    decision.stages = {stage};
    return write_stages({client, expectations, caches, [] { return true; }}, seen, decision);
  }
  bool waits() { return !expectations.are_met(kJob); }
};

TEST_F(Act, ADeletionIsWaitedForUntilItShows) {
  EXPECT_EQ(write({removal("cora-0-0")}).outcome, Outcome::kDone);
  EXPECT_TRUE(waits());
  api.push(caches);
  EXPECT_FALSE(waits());
}

TEST_F(Act, ADeletionThatIsRefusedIsNotWaitedForButTold) {
  api.refuse = [](const std::string&, const FakeApi::Target&) -> std::optional<FakeApi::Refusal> {
    return FakeApi::Refusal{403, "Forbidden", "no deletions today"};
  };
  const WriteResult result = write({removal("cora-0-0")});
  EXPECT_EQ(result.outcome, Outcome::kRejected);
  EXPECT_THAT(result.feedback.refusals, IsEmpty());
  ASSERT_EQ(result.feedback.undeleted.size(), 1U);
  EXPECT_EQ(result.feedback.undeleted[0].object, "Pod cora-0-0");
  EXPECT_EQ(result.feedback.undeleted[0].message, "no deletions today");
  EXPECT_FALSE(waits());
}

TEST_F(Act, ADeletionThatWasSeenBeforeItWasAskedForIsNotWaitedFor) {
  cluster.remove(Kind::kPod, "cora-0-0", "uid of cora-0-0",
                 30);  // by the taint manager, of a node that is dead
  api.push(caches);
  write({removal("cora-0-0")});
  EXPECT_FALSE(waits()) << "no other event comes while its kubelet is silent";
}

TEST_F(Act, APodThatIsForcedOutIsWaitedForUntilItIsGone) {
  cluster.remove(Kind::kPod, "cora-0-0", "uid of cora-0-0", 30);
  api.push(caches);
  write({removal("cora-0-0", 0)});
  EXPECT_TRUE(waits());
  api.push(caches);
  EXPECT_FALSE(waits());
}

TEST_F(Act, APatchWhoseStateIsKnownIsNotWaitedFor) {
  seen.pods.push_back(read_pod(pod("cora-0-0").dump()));
  seen.pods.back().meta.version = "older";  // than what the caches have, which somebody else has made so
  cluster.pods.at("cora-0-0")["metadata"]["labels"]["x"] = "y";
  cluster.pods.at("cora-0-0")["spec"]["schedulingGates"] = json::array({{{"name", "other"}}});
  api.push(caches);
  const json steps = {{{"op", "add"}, {"path", "/metadata/labels/x"}, {"value", "y"}}};
  write({{Write::Verb::kPatch, Kind::kPod, "cora-0-0", steps.dump(), "", {}}});
  EXPECT_FALSE(waits());
}

TEST_F(Act, OfAStageThatFailsInPartThePodsThatAreThereAreNamed) {
  api.refuse = [](const std::string& method,
                  const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (method != "POST" || target.name != "cora-2-0") return {};
    return FakeApi::Refusal{403, "Forbidden", "exceeded quota"};
  };
  const WriteResult result = write({creation("cora-1-0"), creation("cora-2-0"), creation("cora-3-0")});
  EXPECT_EQ(result.outcome, Outcome::kRejected);
  EXPECT_THAT(result.pods, ElementsAre("cora-1-0", "cora-3-0"));
}

TEST_F(Act, APodOfWhichNoAnswerCameMayBeThere) {
  api.cut_in = 0;
  const WriteResult result = write({creation("cora-1-0")});
  EXPECT_EQ(result.outcome, Outcome::kUnanswered);
  EXPECT_THAT(result.pods, ElementsAre("cora-1-0"));
  ASSERT_EQ(result.feedback.outdated.size(), 1U)
      << "the server is asked for it before anything else is decided";
  EXPECT_EQ(result.feedback.outdated[0].name, "cora-1-0");
  EXPECT_FALSE(waits());
}

TEST_F(Act, NothingIsSentOnceAnotherLeads) {
  Decision decision;
  decision.stages = {{creation("cora-1-0")}};
  const WriteResult result =
      write_stages({client, expectations, caches, [] { return false; }}, seen, decision);
  EXPECT_EQ(result.outcome, Outcome::kUnanswered);
  EXPECT_THAT(result.pods, IsEmpty());
  EXPECT_THAT(api.writes, IsEmpty());
}

TEST(InParallel, AFailureOfOneReachesTheCallerOnceAllAreDone) {
  std::atomic<int> done = 0;
  const auto work = [&](std::size_t i) {
    ++done;
    if (i == 3) throw std::runtime_error("three");
  };
  EXPECT_THROW(in_parallel(16, 4, work), std::runtime_error);
  EXPECT_EQ(done, 16);
}

}  // namespace
}  // namespace atl::ctl
