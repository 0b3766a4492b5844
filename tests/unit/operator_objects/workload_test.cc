// The Workload by which a job queues, and the patches of its status.
#include "operator/objects/objects.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/plan/node_filter.h"
#include "operator/plan/snapshot.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;

const Settings kSettings{.image = "atoll/engine:1", .kueue = true};
const Moment kNow = *parse_moment("2026-03-01T12:00:05Z");

GnnJob queued_job() {
  json object = sample_job_json({{"/spec/template", {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}}}});
  object["metadata"]["labels"][kQueueLabel] = "team-queue";
  return read_gnn_job(object.dump());
}

json made(const GnnJob& job = queued_job(), const QueuePriority& priority = {}) {
  return parse_json(workload(job, kSettings, {{0, 1}, {2}}, priority));
}

/// As it stands once the patch is applied to it.
json patched(json object, const std::vector<Condition>& conditions, bool releases = false) {
  object["metadata"]["resourceVersion"] = "7";
  return object.patch(
      parse_json(conditions_patch(read_meta(object), read_workload(object), conditions, releases)));
}

TEST(WorkloadObject, IsTheJobsOwnInItsQueue) {
  const json object = made();
  EXPECT_EQ(object.at("apiVersion"), "kueue.x-k8s.io/v1beta2");
  EXPECT_EQ(object.at("kind"), "Workload");
  EXPECT_EQ(read_meta(object).name, "gnnjob-cora");
  EXPECT_EQ(read_meta(object).owner_uid, "job-uid");
  EXPECT_EQ(object.at("spec").at("queueName"), "team-queue");
  EXPECT_EQ(object.at("spec").at("priority"), 0);
  EXPECT_FALSE(object.at("spec").contains("priorityClassRef"));
}

TEST(WorkloadObject, CountsEveryWorkerLikeTheLargestAndTheLauncher) {
  const json object = made();
  const json& sets = object.at("spec").at("podSets");
  ASSERT_EQ(sets.size(), 2u);
  EXPECT_EQ(sets[0].at("name"), "worker");
  EXPECT_EQ(sets[0].at("count"), 2);
  EXPECT_EQ(requests_of(sets[0].at("template").at("spec")).of("cpu"), 3000) << "of two ranks";
  EXPECT_EQ(sets[0].at("template").at("spec").at("nodeSelector"),
            json({{"disk", "ssd"}, {"kubernetes.io/os", "linux"}}))
      << "by which Kueue chooses flavors";
  EXPECT_EQ(sets[1].at("name"), "launcher");
  EXPECT_EQ(requests_of(sets[1].at("template").at("spec")).of("cpu"), 100);
  for (const json& set : sets) EXPECT_FALSE(set.at("template").at("spec").contains("schedulingGates"));
}

TEST(WorkloadObject, AsksNotForWhatAnAdmissionGave) {
  GnnJob job = queued_job();
  job.admitted.workers = R"({"spec":{"nodeSelector":{"pool":"spot"}}})";
  EXPECT_EQ(made(job), made());
}

TEST(WorkloadObject, AsksForATopologyWhereItsPlacementNamesADomain) {
  const auto placement = [](const char* policy, const char* within) {
    Job job = *queued_job().job;
    job.placement.within = within;
    job.placement.policy =
        policy == std::string("Preferred") ? PlacementPolicy::kPreferred : PlacementPolicy::kRequired;
    return topology_request(job);
  };
  EXPECT_EQ(placement("Required", "rack"), (TopologyRequest{"required", "rack"}));
  EXPECT_EQ(placement("Preferred", "rack"), (TopologyRequest{"preferred", "rack"}));
  EXPECT_FALSE(placement("Required", "").is_any());
  EXPECT_FALSE(placement("Preferred", "").is_any());
  const json asking = parse_json(workload(queued_job(), kSettings, {{0, 1}, {2}}, {}, {"required", "rack"}));
  const json& sets = asking.at("spec").at("podSets");
  EXPECT_EQ(sets[0].at("topologyRequest"), json({{"required", "rack"}}));
  EXPECT_EQ(sets[1].at("topologyRequest"), json({{"unconstrained", true}}));
  EXPECT_EQ(read_workload(asking).asks.at("worker"), (TopologyRequest{"required", "rack"}));
  const json silent = made();
  for (const json& set : silent.at("spec").at("podSets")) EXPECT_FALSE(set.contains("topologyRequest"));
}

TEST(WorkloadObject, NamesItsClassOfPriority) {
  const json spec = made(queued_job(), {"scheduling.k8s.io", "PriorityClass", "high", 9}).at("spec");
  EXPECT_EQ(spec.at("priority"), 9);
  EXPECT_EQ(spec.at("priorityClassRef"),
            json({{"group", "scheduling.k8s.io"}, {"kind", "PriorityClass"}, {"name", "high"}}));
}

TEST(WorkloadStatus, GetsItsFirstConditionWhereItHasNone) {
  const json after = patched(made(), {{kPodsReady, true, "Started", "all ranks run", kNow}});
  const Workload told = read_workload(after);
  ASSERT_EQ(told.conditions.size(), 1u);
  EXPECT_TRUE(holds(told.conditions, kPodsReady));
  EXPECT_EQ(told.conditions[0].changed, kNow);
}

TEST(WorkloadStatus, KeepsOthersConditionsAsTheyAre) {
  json object = made();
  const json theirs = {{"type", "Their"}, {"status", "Unknown"}, {"reason", "R"}, {"message", "m"}};
  const json ready = {{"type", "PodsReady"},
                      {"status", "True"},
                      {"lastTransitionTime", "2026-03-01T10:00:00Z"},
                      {"reason", "Started"},
                      {"message", ""}};
  object["status"]["conditions"] = json::array({theirs, ready});
  json after = patched(object, {{kPodsReady, true, "Recovered", "", kNow}}).at("status").at("conditions");
  EXPECT_EQ(after[0], theirs);
  EXPECT_EQ(after[1].at("reason"), "Recovered");
  EXPECT_EQ(after[1].at("lastTransitionTime"), "2026-03-01T10:00:00Z") << "it held before";
  EXPECT_EQ(after.size(), 2u);
}

TEST(WorkloadStatus, IsReleased) {
  json object = made();
  object["status"]["admission"] = {{"clusterQueue", "team"}};
  const json after = patched(object, {{kQuotaReserved, false, "Pending", "evicted", kNow}}, true);
  EXPECT_FALSE(after.at("status").contains("admission"));
  EXPECT_FALSE(
      patched(object, {{kFinished, true, "Failed", "m", kNow}}).at("status").at("admission").is_null());
}

TEST(WorkloadStatus, IsNotPatchedWhereItHasChangedSinceItWasRead) {
  json object = made();
  object["metadata"]["resourceVersion"] = "7";
  const json patch = parse_json(conditions_patch(read_meta(object), read_workload(object), {}));
  EXPECT_EQ(patch[0], json({{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", "7"}}));
}

TEST(AdmittedPods, AreAskedForWhatAllTheirFlavorsAndChecksAsk) {
  Workload admitted = read_workload(parse_json(R"({"status": {
      "admission": {"podSetAssignments": [
          {"name": "worker", "flavors": {"cpu": "a", "memory": "a", "nvidia.com/gpu": "b"}},
          {"name": "launcher", "flavors": {"cpu": "a"}}]},
      "admissionChecks": [{"name": "c", "state": "Ready", "podSetUpdates": [
          {"name": "worker", "labels": {"l": "1"}, "nodeSelector": {"n": "2"}}]}]}})"));
  const auto flavor = [](const std::string& name) {
    return std::optional(flavor_template({{"spec",
                                           {{"nodeLabels", {{"flavor-" + name, "yes"}}},
                                            {"tolerations", {{{"key", name}, {"operator", "Exists"}}}}}}}));
  };
  const Admitted pods = admitted_pods(admitted, flavor);
  const json worker = parse_json(pods.workers), launcher = parse_json(pods.launcher);
  EXPECT_EQ(worker.at("metadata").at("labels"), json({{"l", "1"}}));
  EXPECT_EQ(worker.at("spec").at("nodeSelector"),
            json({{"flavor-a", "yes"}, {"flavor-b", "yes"}, {"n", "2"}}));
  EXPECT_EQ(worker.at("spec").at("tolerations").size(), 2u);
  EXPECT_EQ(launcher.at("spec").at("nodeSelector"), json({{"flavor-a", "yes"}}));
  EXPECT_EQ(admitted_pods(admitted, [](const auto&) { return std::optional<std::string>(); }).unknown, "a");
}

TEST(AdmittedPods, GetItBesideTheUsersTemplate) {
  GnnJob job = queued_job();
  job.status.keys = "cora-keys-1";
  job.admitted.workers = R"({"metadata":{"annotations":{"a":"1"}},"spec":{"nodeSelector":{"pool":"spot"},
                             "tolerations":[{"key":"spot","operator":"Exists"}]}})";
  const json worker = parse_json(worker_pod(job, kSettings, 0, {0, 1}, 0));
  const json launcher = parse_json(launcher_pod(job, kSettings, 1));
  EXPECT_EQ(worker.at("spec").at("nodeSelector"),
            json({{"disk", "ssd"}, {"kubernetes.io/os", "linux"}, {"pool", "spot"}}));
  EXPECT_EQ(worker.at("spec").at("tolerations").back().at("key"), "spot");
  EXPECT_EQ(worker.at("metadata").at("annotations").at("a"), "1");
  EXPECT_EQ(parse_json(prepare_pod(job, kSettings, Moment{})).at("spec").at("nodeSelector").at("pool"),
            "spot");
  EXPECT_EQ(launcher.at("spec").at("nodeSelector"), json({{"disk", "ssd"}, {"kubernetes.io/os", "linux"}}))
      << "a flavor of its own";
}

TEST(Workload, OfOurEngineOnGpusLeavesOutNodesWhoseDriverIsTooOld) {
  const auto takes = [](const GnnJob& job, const std::map<std::string, std::string>& labels) {
    const Settings settings{.image = "atoll/engine:1", .oldest_driver = 570};
    const json made = parse_json(workload(job, settings, {{0}, {1}}, {}));
    EXPECT_EQ(made.at("spec").at("podSets").at(1).at("template").at("spec").value("affinity", json()),
              json());
    NodeState node;
    node.name = "n1";
    node.labels = labels;
    node.labels["kubernetes.io/os"] = "linux";
    node.ready = true;
    return NodeFilter::of_template(made.at("spec").at("podSets").at(0).at("template").dump())
        .refusal(node)
        .empty();
  };
  constexpr const char *kPresent = "nvidia.com/cuda.driver-version.major",
                       *kFormer = "nvidia.com/cuda.driver.major";
  const GnnJob job = sample_job({{"/spec/resources/nvidia.com~1gpu", 1}});
  EXPECT_TRUE(takes(job, {}));
  EXPECT_TRUE(takes(job, {{kPresent, "570"}}));
  EXPECT_TRUE(takes(job, {{kFormer, "580"}}));
  EXPECT_TRUE(takes(job, {{kPresent, "580"}, {kFormer, "535"}}));
  EXPECT_FALSE(takes(job, {{kPresent, "565"}}));
  EXPECT_FALSE(takes(job, {{kFormer, "535"}}));
  EXPECT_FALSE(takes(job, {{kPresent, "535"}, {kFormer, "580"}}));
  EXPECT_TRUE(takes(sample_job({{"/spec/resources/nvidia.com~1gpu", 1}, {"/spec/image", "team/engine:2"}}),
                    {{kPresent, "535"}}))
      << "another engine's needs aren't known";
  EXPECT_TRUE(takes(sample_job(), {{kPresent, "535"}})) << "it has no GPUs";
}

/// A job to which its queue assigned nodes.
GnnJob placed_job() {
  GnnJob job = queued_job();
  job.status.keys = "cora-keys-1";
  AssignedNodes nodes;
  nodes.slots = {{"n1", 1}, {"n2", 1}};
  nodes.asked = {"preferred", "rack"};
  job.admitted.worker_nodes = nodes;
  nodes.slots = {{"n1", 1}};
  nodes.asked = kUnconstrained;
  job.admitted.launcher_nodes = nodes;
  return job;
}

void expect_marks(const json& pod, const char* set, const char* topology, const char* value) {
  EXPECT_EQ(pod.at("metadata").at("labels").at("kueue.x-k8s.io/podset"), set);
  EXPECT_EQ(pod.at("metadata").at("annotations").at("kueue.x-k8s.io/workload"), "gnnjob-cora");
  EXPECT_EQ(pod.at("metadata").at("annotations").at(topology), value);
}

TEST(AdmittedPods, OnAssignedNodesSayOfWhichSetTheyAre) {
  const GnnJob job = placed_job();
  constexpr const char *kPreferred = "kueue.x-k8s.io/podset-preferred-topology",
                       *kAnywhere = "kueue.x-k8s.io/podset-unconstrained-topology";
  expect_marks(parse_json(worker_pod(job, kSettings, 0, {0, 1}, 0)), "worker", kPreferred, "rack");
  expect_marks(parse_json(prepare_pod(job, kSettings, Moment{})), "worker", kPreferred, "rack");
  expect_marks(parse_json(launcher_pod(job, kSettings, 1)), "launcher", kAnywhere, "true");
  const json made_of_mpi = parse_json(mpi_job(job, kSettings, 1, {{0, 1}, {2}}, kNow));
  const json& of_mpi = made_of_mpi.at("spec").at("mpiReplicaSpecs");
  expect_marks(of_mpi.at("Worker").at("template"), "worker", kPreferred, "rack");
  expect_marks(of_mpi.at("Launcher").at("template"), "launcher", kAnywhere, "true");
  const json elsewhere = parse_json(worker_pod(sample_job(), kSettings, 0, {0, 1}, 0));
  EXPECT_THAT(elsewhere.dump(), testing::Not(testing::HasSubstr("kueue.x-k8s.io")));
  EXPECT_THAT(json(parse_json(workload(job, kSettings, {{0, 1}, {2}}, {})).at("spec")).dump(),
              testing::Not(testing::HasSubstr("kueue.x-k8s.io/podset")))
      << "a Workload asks for what its pods are outside of any queue";
}

TEST(AdmittedPods, ArePinnedToAssignedNodesAsKueueReadsIt) {
  const std::string worker = worker_pod(placed_job(), kSettings, 0, {0, 1}, 0);
  const json pinned = parse_json(born_released(worker, "n2", kNow));
  EXPECT_EQ(pinned.at("spec").at("nodeSelector").at("kubernetes.io/hostname"), "n2");
  EXPECT_EQ(pinned.at("spec").at("nodeSelector").at("disk"), "ssd") << "beside what the template asks";
  EXPECT_EQ(read_pod(pinned.dump()).pinned, "n2");
  const std::string free = worker_pod(sample_job(), kSettings, 0, {0, 1}, 0);
  const json anywhere = parse_json(born_released(free, "n2", kNow));
  EXPECT_FALSE(anywhere.at("spec").at("nodeSelector").contains("kubernetes.io/hostname"))
      << "others' pins are as they were";
}

TEST(AdmittedPods, ArePreparedForOnAssignedNodes) {
  const auto terms = [](const json& pod) {
    return pod.at("spec")
        .at("affinity")
        .at("nodeAffinity")
        .at("requiredDuringSchedulingIgnoredDuringExecution")
        .at("nodeSelectorTerms");
  };
  const json prepare = parse_json(prepare_pod(placed_job(), kSettings, Moment{}));
  const json on_either = {
      {"key", "kubernetes.io/hostname"}, {"operator", "In"}, {"values", json::array({"n1", "n2"})}};
  ASSERT_EQ(terms(prepare).size(), 1u);
  EXPECT_EQ(terms(prepare).at(0).at("matchExpressions"), json::array({on_either}));
  const json elsewhere = parse_json(prepare_pod(sample_job(), kSettings, Moment{}));
  EXPECT_FALSE(elsewhere.at("spec").contains("affinity"));
}

}  // namespace
}  // namespace atl::ctl
