// A job's request to its queue, the quota and the nodes that it gets, and what keeps it from getting any.
#include <gmock/gmock.h>

#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(QueuePlace, AsksForWhatItsPodsAskFor) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.atoll.submit(queued_job());
  world.atoll.run(5);
  EXPECT_EQ(cores_of(world.kueue.workload()), 2 * 3000 + 100) << "two servers of 3 cores, and the launcher";
}

/// The waiting job's request, by its set of pods.
json request_of(QueueWorld& world, std::size_t set) {
  return world.kueue.workload().at("spec").at("podSets").at(set).value("topologyRequest", json());
}

TEST(QueuePlace, NodesAreAskedForWhereThePlacementNamesADomain) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  world.atoll.submit(job_in_one_rack());
  world.atoll.run(5);
  EXPECT_EQ(request_of(world, 0), json({{"required", "rack"}}));
  EXPECT_EQ(request_of(world, 1), json({{"unconstrained", true}})) << "a launcher may be anywhere";
  QueueWorld preferred;
  preferred.kueue.cores = 0;
  preferred.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  preferred.atoll.submit(job_in_one_rack("Preferred"));
  preferred.atoll.run(5);
  EXPECT_EQ(request_of(preferred, 0), json({{"preferred", "rack"}}));
}

TEST(QueuePlace, NodesArentAskedForWhereNothingIsSaidOfThem) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  world.atoll.submit(queued_job());
  world.atoll.run(5);
  for (const std::size_t set : {0u, 1u}) EXPECT_TRUE(request_of(world, set).is_null());
}

TEST(QueuePlace, NodesArentAskedForBeforeTheClusterHasTopologies) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.atoll.submit(job_in_one_rack());
  world.atoll.run(5);
  EXPECT_TRUE(request_of(world, 0).is_null()) << "no flavor would do";
  world.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  world.cluster.is_changed = true;
  world.atoll.run(30);
  EXPECT_EQ(request_of(world, 0), json({{"required", "rack"}})) << "of a Workload that was made again";
}

TEST(QueuePlace, PodsGoWhereTheFlavorSays) {
  QueueWorld world;
  for (const char* node : {"n1", "n2"}) world.cluster.nodes[node].labels["pool"] = "other";
  json flavor = kFlavor;
  flavor["spec"]["tolerations"] = json::array({{{"key", "spot"}, {"operator", "Exists"}}});
  world.cluster.flavors["on-demand"] = flavor;
  world.atoll.submit(queued_job());
  world.until_training();
  for (const auto& [name, pod] : world.cluster.pods) {
    EXPECT_EQ(pod.at("spec").at("nodeSelector").at("pool"), "gnn") << name;
    EXPECT_EQ(pod.at("spec").at("tolerations").back().at("key"), "spot") << name;
    if (label_of(pod, kRoleLabel) == kPrepareRole) continue;
    EXPECT_THAT(node_of(pod), testing::AnyOf("n3", "n4")) << name;
  }
}

TEST(QueuePlace, ALauncherOfAnotherFlavorStandsOnThatFlavorsNodes) {
  QueueWorld world;
  world.cluster.nodes["n4"].labels["pool"] = "small";
  world.cluster.flavors["small"] = {{"spec", {{"nodeLabels", {{"pool", "small"}}}}}};
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return world.kueue.has_workload() && world.kueue.read().has_admission; });
  world.kueue.workload()["status"]["admission"]["podSetAssignments"][1]["flavors"]["cpu"] = "small";
  world.until_training();
  EXPECT_EQ(node_of(world.cluster.pods.at("cora-launcher-1")), "n4");
  for (const auto& name : world.cluster.pods_of("cora", kWorkerRole))
    EXPECT_NE(node_of(world.cluster.pods.at(name)), "n4");
}

TEST(QueuePlace, AnAdmissionChecksUpdatesReachThePods) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.atoll.run(60, [&] { return world.kueue.has_workload() && world.kueue.read().has_admission; });
  world.kueue.workload()["status"]["admissionChecks"] =
      parse_json(R"([{"name": "provisioning", "state": "Ready",
      "podSetUpdates": [{"name": "worker", "annotations": {"example.com/claim": "c1"}}]}])");
  world.until_training();
  const json& worker = world.cluster.pods.at("cora-0-0");
  EXPECT_EQ(worker.at("metadata").at("annotations").at("example.com/claim"), "c1");
}

TEST(QueuePlace, AFlavorThatIsMissingHoldsItBack) {
  QueueWorld world;
  world.cluster.flavors.clear();
  world.atoll.submit(queued_job());
  world.atoll.run(30);
  EXPECT_THAT(condition(world, kSuspended).message, HasSubstr("ResourceFlavor on-demand"));
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  world.cluster.flavors["on-demand"] = kFlavor;
  world.run_to_end();
  expect_success(world);
}

TEST(QueuePlace, AnotherQueueMeansAnotherWorkload) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.atoll.submit(queued_job());
  world.atoll.run(10);
  world.atoll.job()["metadata"]["labels"][kQueueLabel] = "second-queue";
  world.cluster.is_changed = true;
  world.atoll.run(10);
  EXPECT_EQ(world.kueue.workload().at("spec").at("queueName"), "second-queue");
}

TEST(QueuePlace, AJobThatLeavesItsQueueRunsOnItsOwn) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.atoll.submit(queued_job());
  world.atoll.run(10);
  world.atoll.job()["metadata"]["labels"].erase(kQueueLabel);
  world.cluster.is_changed = true;
  world.run_to_end();
  expect_success(world);
  EXPECT_FALSE(world.kueue.has_workload());
}

TEST(QueuePlace, WithoutTheLabelThereIsNothingOfIt) {
  QueueWorld world;
  world.kueue.cores = 0;
  world.atoll.submit(sample_job_json());
  world.run_to_end();
  expect_success(world);
  EXPECT_FALSE(world.kueue.has_workload());
}

TEST(QueuePlace, WhereTheOperatorKnowsOfNoKueueTheJobDoesNotStart) {
  QueueWorld world;
  world.atoll.settings.kueue = false;
  world.atoll.submit(queued_job());
  world.atoll.run(30);
  EXPECT_EQ(condition(world, kSuspended).reason, "NoKueue");
  EXPECT_THAT(condition(world, kSuspended).message, HasSubstr("kueue.enabled"));
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  EXPECT_FALSE(world.kueue.has_workload());
}

TEST(QueuePlace, WhereKueueIsntInstalledTheJobDoesNotStartAndSaysWhy) {
  QueueWorld world;
  bool is_installed = false;
  world.cluster.refuse = [&](Kind kind, const json&) {
    return kind == Kind::kWorkload && !is_installed ? "the server could not find the requested resource" : "";
  };
  world.atoll.submit(queued_job());
  world.atoll.run(60);
  EXPECT_EQ(condition(world, kSuspended).reason, "QueueRefused");
  EXPECT_THAT(condition(world, kSuspended).message, HasSubstr("is Kueue 0.15 or later installed?"));
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  is_installed = true;
  world.run_to_end();
  expect_success(world);
}

TEST(QueuePlace, AnUnknownPriorityClassHoldsItBack) {
  QueueWorld world;
  world.atoll.add = [](Observed& seen) { seen.queue_priority.reset(); };
  json job = queued_job();
  job["metadata"]["labels"][kQueuePriorityLabel] = "urgent";
  world.atoll.submit(job);
  world.atoll.run(30);
  EXPECT_THAT(condition(world, kSuspended).message, HasSubstr("'urgent'"));
  EXPECT_FALSE(world.kueue.has_workload());
}

}  // namespace
}  // namespace atl::ctl
