// Objects that the API server refuses. A quota may let in half a gang, and counts gated pods: a gang that
// can't have all its pods must not hold some for ever.
#include <gmock/gmock.h>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

/// A namespace whose quota counts the pods of gangs.
struct Limited {
  World world;
  int most = 1000;           // pods
  int most_of_a_job = 1000;  // how many of them one job gets, until somebody says otherwise

  Limited() {
    world.cluster.refuse = [this](Kind kind, const json& object) -> std::string {
      const std::string role = label_of(object, kRoleLabel), job = label_of(object, kJobLabel);
      if (kind != Kind::kPod || role == kPrepareRole) return "";
      const int of_all = gang_pods("cora") + gang_pods("younger");
      return of_all >= most || gang_pods(job) >= most_of_a_job ? "exceeded quota: team" : "";
    };
  }
  void submit(const std::string& name, const char* created, int ranks = 4) {
    world.atoll.submit(sample_job_json({{"/metadata/name", name},
                                        {"/metadata/uid", "uid-of-" + name},
                                        {"/metadata/creationTimestamp", created},
                                        {"/spec/placement/ranks", ranks}}));
  }
  int gang_pods(const std::string& job) const {
    return int(world.cluster.pods_of(job, kWorkerRole).size() +
               world.cluster.pods_of(job, kLauncherRole).size());
  }
  Condition created(const std::string& job) {
    const Status status = world.atoll.status(job);
    const Condition* found = find_condition(status.conditions, kCreated);
    return found ? *found : Condition{};
  }
  /// Each gang of three pods has two, of a quota of four.
  void let_in_halves() {
    most_of_a_job = 2;
    submit("cora", "2026-03-01T11:00:00Z");
    submit("younger", "2026-03-01T11:30:00Z");
    world.atoll.run(10);
    ASSERT_EQ(gang_pods("cora"), 2);
    ASSERT_EQ(gang_pods("younger"), 2);
    most = 4;
    most_of_a_job = 1000;
  }
};

class Quota : public testing::Test, public Limited {};

TEST_F(Quota, TheYoungerOfTwoHalvesGivesWay) {
  let_in_halves();
  const std::string uid = world.cluster.pods.at("cora-0-0").at("metadata").at("uid");
  EXPECT_EQ(created("younger").reason, "Refused");
  world.atoll.run(40, [&] { return gang_pods("younger") == 0; });
  EXPECT_EQ(gang_pods("younger"), 0);
  EXPECT_EQ(created("younger").reason, "Refused");
  EXPECT_THAT(created("younger").message,
              AllOf(HasSubstr("is refused by the API server: exceeded quota: team"),
                    HasSubstr("pods are withdrawn meanwhile")));
  world.atoll.run(15, [&] { return world.atoll.state("cora") == "Running"; });
  EXPECT_EQ(world.atoll.state("cora"), "Running");
  EXPECT_EQ(world.cluster.pods.at("cora-0-0").at("metadata").at("uid"), uid) << "the older keeps what it has";
  world.run_to_end(600, "younger");
  EXPECT_EQ(world.atoll.state("cora"), "Succeeded");
  EXPECT_EQ(world.atoll.state("younger"), "Succeeded");
  EXPECT_EQ(created("younger").reason, "Made");
}

TEST_F(Quota, HalfAGangTakesNoRoomOnNodes) {
  most_of_a_job = 2;
  submit("cora", "2026-03-01T11:00:00Z");
  world.atoll.run(60);
  ASSERT_EQ(gang_pods("cora"), 2);
  for (const std::string& name : world.cluster.pods_of("cora", kWorkerRole))
    EXPECT_EQ(node_of(world.cluster.pods.at(name)), "") << name;
  most_of_a_job = 1000;
  world.run_to_end();
  expect_success(world);
}

TEST_F(Quota, AnOlderGangThatCanNeverHaveAllLetsTheYoungerPass) {
  most = 4;
  submit("cora", "2026-03-01T11:00:00Z", 8);  // five pods
  world.atoll.run(30);
  EXPECT_EQ(gang_pods("cora"), 4);
  submit("younger", "2026-03-01T11:30:00Z");
  world.run_to_end(400, "younger");
  EXPECT_EQ(world.atoll.state("younger"), "Succeeded");
  EXPECT_EQ(created("cora").reason, "Refused");
  EXPECT_FALSE(world.has_ended("cora")) << "somebody may raise the quota";
  most = 6;  // the younger's launcher is still there for its log
  world.run_to_end(2000);
  EXPECT_EQ(world.atoll.state("cora"), "Succeeded");
}

TEST_F(Quota, AWithdrawnGangIsTriedLessAndLessOften) {
  most = 2;
  submit("cora", "2026-03-01T11:00:00Z");
  int holds = 0, withdrawals = 0;
  for (int second = 0; second < 3600; ++second) {
    const int before = gang_pods("cora");
    world.atoll.run(1);
    holds += gang_pods("cora") > 0;
    withdrawals += before > 0 && gang_pods("cora") == 0;
  }
  EXPECT_GE(withdrawals, 4);
  EXPECT_LE(withdrawals, 8);
  EXPECT_LT(holds, 1200) << "most of the time the quota is others'";
}

TEST_F(Quota, AnOperatorThatDiesBetweenAnyTwoWritesGoesOn) {
  for (int kill = 0; kill < 60 && !HasFailure(); kill += 3) {
    SCOPED_TRACE(kill);
    Limited other;
    other.let_in_halves();
    other.world.atoll.kill_after = other.world.atoll.writes + kill;
    other.world.run_to_end(900, "cora");
    other.world.run_to_end(900, "younger");
    EXPECT_EQ(other.world.atoll.state("cora"), "Succeeded");
    EXPECT_EQ(other.world.atoll.state("younger"), "Succeeded");
  }
}

TEST_F(Quota, ObjectsThatAreNoPodsAreNamedInTheServersWords) {
  const std::pair<Kind, const char*> cases[] = {
      {Kind::kSecret, "cora-keys"}, {Kind::kConfigMap, "cora-job-"}, {Kind::kNetworkPolicy, "cora"}};
  for (const auto& [refused, name] : cases) {
    World other;
    bool is_refused = true;
    other.cluster.refuse = [&, kind = refused](Kind asked, const json&) {
      return is_refused && asked == kind ? "admission webhook denied the request" : "";
    };
    other.atoll.submit(sample_job_json());
    other.atoll.run(3);
    const Status status = other.atoll.status();
    const Condition* found = find_condition(status.conditions, kCreated);
    ASSERT_TRUE(found) << name;
    EXPECT_EQ(found->reason, "Refused");
    EXPECT_THAT(found->message, AllOf(HasSubstr(name), HasSubstr("admission webhook denied the request")));
    EXPECT_THAT(other.cluster.pods, IsEmpty());
    is_refused = false;
    other.run_to_end();
    EXPECT_EQ(other.atoll.state(), "Succeeded");
  }
}

TEST_F(Quota, ARefusalThatIsOverIsNotSaidAnyMore) {
  bool is_refused = true;
  world.cluster.refuse = [&](Kind kind, const json&) {
    return is_refused && kind == Kind::kSecret ? "no" : "";
  };
  submit("cora", "2026-03-01T11:00:00Z");
  world.atoll.run(5);
  EXPECT_EQ(created("cora").reason, "Refused");
  for (auto& [name, node] : world.cluster.nodes) node.pulls_images = false;  // the prepare pod doesn't start
  is_refused = false;
  world.atoll.run(5);
  EXPECT_EQ(created("cora").reason, "Preparing");
}

}  // namespace
}  // namespace atl::ctl
