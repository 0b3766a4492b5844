// What a job asks its queue about nodes: for one domain where every flavor of its own queue has a topology,
// else for nothing; and how that is put right where the queue has changed.
#include <gmock/gmock.h>

#include <set>
#include <string>

#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using Flavors = FakeOperator::Flavors;

constexpr int kUntilAskedAgain = 310;

Flavors named(const std::set<std::string>& names) {
  return names;
}

/// A queue whose one flavor has a topology, a job that wants one rack, and no quota.
struct RequestWorld : QueueWorld {
  Flavors flavors = named({"on-demand"});  // of the job's queue
  std::set<std::string> workloads;         // UIDs of all that there were

  RequestWorld() {
    kueue.cores = 0;
    cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
    atoll.flavors_of_queue = [this](const std::string&) { return flavors; };
  }
  void run(int seconds) {
    atoll.run(seconds, [&] {
      if (kueue.has_workload()) workloads.insert(kueue.workload().at("metadata").at("uid"));
      return false;
    });
  }
  json request() { return kueue.workload().at("spec").at("podSets").at(0).value("topologyRequest", json()); }
  void add_plain_flavor(const std::string& name) {
    cluster.flavors[name] = {{"spec", {{"nodeLabels", {{"pool", "gnn"}}}}}};
  }
  void give_quota() {
    kueue.cores = 8000;
    cluster.is_changed = true;
  }
};

const json kOneRack = {{"required", "rack"}};

TEST(QueueRequest, IsntMadeBecauseAnothersQueueHasATopology) {
  RequestWorld world;
  world.add_plain_flavor("plain");
  world.flavors = named({"plain"});
  world.kueue.flavor = "plain";
  world.atoll.submit(job_in_one_rack());
  world.run(5);
  EXPECT_TRUE(world.request().is_null()) << "no flavor of its queue would do";
  world.give_quota();
  world.run_to_end();
  expect_success(world);
}

TEST(QueueRequest, IsntMadeWhereSomeFlavorsHaveNoTopology) {
  RequestWorld world;
  world.add_plain_flavor("plain");
  world.flavors = named({"on-demand", "plain"});
  world.atoll.submit(job_in_one_rack());
  world.run(5);
  EXPECT_TRUE(world.request().is_null()) << "it would keep the job from the flavor without one";
}

TEST(QueueRequest, IsntMadeWhereTheQueueCantBeRead) {
  RequestWorld world;
  world.flavors = named({});
  world.atoll.submit(job_in_one_rack());
  world.run(5);
  ASSERT_TRUE(world.kueue.has_workload()) << "that is no reason to wait";
  EXPECT_TRUE(world.request().is_null());
}

TEST(QueueRequest, WaitsForTheServersWordOnTheQueue) {
  RequestWorld world;
  world.flavors.reset();
  world.atoll.submit(job_in_one_rack());
  world.run(20);
  EXPECT_FALSE(world.kueue.has_workload());
  EXPECT_THAT(condition(world, kSuspended).message, HasSubstr("which flavors the queue team-queue has"));
  world.flavors = named({"on-demand"});
  world.run(20);
  EXPECT_EQ(world.request(), kOneRack);
}

TEST(QueueRequest, ThatTheQueueCantServeAnyMoreGoes) {
  RequestWorld world;
  world.add_plain_flavor("plain");
  world.atoll.submit(job_in_one_rack());
  world.run(5);
  ASSERT_EQ(world.request(), kOneRack);
  world.flavors = named({"plain"});
  world.run(kUntilAskedAgain);
  EXPECT_TRUE(world.request().is_null());
  world.run(3 * kUntilAskedAgain);
  EXPECT_THAT(world.workloads, SizeIs(2)) << "made again once";
}

TEST(QueueRequest, IsMadeOnceTheQueueHasATopology) {
  RequestWorld world;
  world.add_plain_flavor("plain");
  world.flavors = named({"plain"});
  world.atoll.submit(job_in_one_rack());
  world.run(5);
  ASSERT_TRUE(world.request().is_null());
  world.flavors = named({"on-demand"});
  world.run(kUntilAskedAgain);
  EXPECT_EQ(world.request(), kOneRack);
  world.run(3 * kUntilAskedAgain);
  EXPECT_THAT(world.workloads, SizeIs(2)) << "made again once";
}

TEST(QueueRequest, StaysWhileTheServerSaysNothing) {
  RequestWorld world;
  world.atoll.submit(job_in_one_rack());
  world.run(5);
  ASSERT_EQ(world.request(), kOneRack);
  world.flavors.reset();
  world.run(2 * kUntilAskedAgain);
  EXPECT_EQ(world.request(), kOneRack);
  EXPECT_THAT(world.workloads, SizeIs(1));
}

/// As where the operator didn't ask yet, or the queue got its topology between the request and the admission.
TEST(QueueRequest, IsMadeAfterAnAdmissionWithoutOneToNodesThatWontDo) {
  RequestWorld world;
  world.flavors = named({});
  world.kueue.assigns = {{kWorkerPods, {{"n1", 1}, {"n3", 1}}}, {kLauncherPods, {{"n1", 1}}}};
  world.atoll.submit(job_in_one_rack());
  world.give_quota();
  world.atoll.run(60, [&] { return condition(world, kPlaced).reason == "NoRoom"; });
  ASSERT_EQ(condition(world, kPlaced).reason, "NoRoom") << "they are in two racks";
  world.flavors = named({"on-demand"});
  world.kueue.assigns = {{kWorkerPods, {{"n3", 1}, {"n4", 1}}}, {kLauncherPods, {{"n3", 1}}}};
  world.cluster.is_changed = true;
  world.run(60);
  EXPECT_EQ(world.request(), kOneRack);
  EXPECT_THAT(world.workloads, SizeIs(2)) << "made again once";
  world.run_to_end();
  expect_success(world);
}

TEST(QueueRequest, IsntMissedWhereTheNodesWillDo) {
  RequestWorld world;
  world.flavors = named({});
  world.kueue.assigns = {{kWorkerPods, {{"n3", 1}, {"n4", 1}}}, {kLauncherPods, {{"n1", 1}}}};
  world.atoll.submit(job_in_one_rack());
  world.give_quota();
  world.run(2);
  world.flavors = named({"on-demand"});
  world.cluster.is_changed = true;
  world.run_to_end();
  expect_success(world);
  EXPECT_TRUE(world.request().is_null());
}

TEST(QueueRequest, DoesntEndAnAttemptThatRuns) {
  RequestWorld world;
  world.flavors = named({});
  world.atoll.submit(job_in_one_rack());
  world.give_quota();
  world.until_training();
  world.flavors = named({"on-demand"});
  world.kueue.assigns = {{kWorkerPods, {{"n1", 1}, {"n3", 1}}}, {kLauncherPods, {{"n1", 1}}}};
  for (json& set : world.kueue.workload()["status"]["admission"]["podSetAssignments"])
    set["topologyAssignment"] =
        topology_assignment(world.kueue.assigns.at(set.at("name").get<std::string>()), kHostnameLabel);
  world.cluster.is_changed = true;
  world.run(3);
  EXPECT_TRUE(world.trains());
  EXPECT_THAT(world.workloads, SizeIs(1));
  EXPECT_THAT(world.atoll.status().restarts, IsEmpty());
}

TEST(QueueRequest, OfALevelThatKueueDoesntTakeIsRefusedInWords) {
  const std::string level = "topology.example.com/" + std::string(50, 'r');
  RequestWorld world;
  world.atoll.submit(queued_job({{"/spec/placement/topologyLevels", json::array({level, kHostnameLabel})},
                                 {"/spec/placement/within", level}}));
  world.run(20);
  EXPECT_EQ(condition(world, kSuspended).reason, "QueueRefused");
  EXPECT_THAT(condition(world, kSuspended).message,
              HasSubstr("placement.within: the queue team-queue assigns nodes"));
  EXPECT_FALSE(world.kueue.has_workload());
  world.add_plain_flavor("plain");
  world.flavors = named({"plain"});
  world.run(20);
  EXPECT_TRUE(world.kueue.has_workload()) << "in a queue without topology the operator sees to it";
}

}  // namespace
}  // namespace atl::ctl
