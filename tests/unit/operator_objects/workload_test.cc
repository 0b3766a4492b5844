// The Workload by which a job queues, and the patches of its status.
#include "operator/objects/objects.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "operator/objects/names.h"
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
  return json::parse(workload(job, kSettings, {{0, 1}, {2}}, priority));
}

/// As it stands once the patch is applied to it.
json patched(json object, const std::vector<Condition>& conditions, bool releases = false) {
  object["metadata"]["resourceVersion"] = "7";
  return object.patch(
      json::parse(conditions_patch(read_meta(object), read_workload(object), conditions, releases)));
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
  const json patch = json::parse(conditions_patch(read_meta(object), read_workload(object), {}));
  EXPECT_EQ(patch[0], json({{"op", "add"}, {"path", "/metadata/resourceVersion"}, {"value", "7"}}));
}

TEST(AdmittedPods, AreAskedForWhatAllTheirFlavorsAndChecksAsk) {
  Workload admitted = read_workload(json::parse(R"({"status": {
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
  const json worker = json::parse(pods.workers), launcher = json::parse(pods.launcher);
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
  const json worker = json::parse(worker_pod(job, kSettings, 0, {0, 1}, 0));
  const json launcher = json::parse(launcher_pod(job, kSettings, 1));
  EXPECT_EQ(worker.at("spec").at("nodeSelector"),
            json({{"disk", "ssd"}, {"kubernetes.io/os", "linux"}, {"pool", "spot"}}));
  EXPECT_EQ(worker.at("spec").at("tolerations").back().at("key"), "spot");
  EXPECT_EQ(worker.at("metadata").at("annotations").at("a"), "1");
  EXPECT_EQ(json::parse(prepare_pod(job, kSettings, Moment{})).at("spec").at("nodeSelector").at("pool"),
            "spot");
  EXPECT_EQ(launcher.at("spec").at("nodeSelector"), json({{"disk", "ssd"}, {"kubernetes.io/os", "linux"}}))
      << "a flavor of its own";
}

}  // namespace
}  // namespace atl::ctl
