// A GNNJob as the API gives it, with defaults filled in and Kubernetes' fields.
#include "operator/api/gnnjob.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json object() {
  return parse_json(R"({
    "apiVersion": "atoll.dev/v1alpha1", "kind": "GNNJob",
    "metadata": {"name": "arxiv", "namespace": "team", "uid": "u1", "generation": 2, "resourceVersion": "77",
                 "creationTimestamp": "2026-03-01T12:00:00Z", "labels": {"kueue.x-k8s.io/queue-name": "q"},
                 "managedFields": [{"manager": "kubectl"}]},
    "spec": {"dataset": {"name": "ogbn_arxiv", "volume": {"persistentVolumeClaim": {"claimName": "data"}}},
             "model": {"kind": "gcn"}, "placement": {"ranks": 4, "ranksPerServer": 2},
             "resources": {"cpu": "500m", "memory": "1Gi"}, "runPolicy": {"suspend": true},
             "template": {"spec": {"priorityClassName": "high"}}},
    "status": {"attempt": 3}})");
}

TEST(GnnJob, IsKubernetesPartAndTheEngines) {
  const GnnJob job = read_gnn_job(object().dump());
  ASSERT_TRUE(job.job) << job.refusal;
  EXPECT_EQ(job.full_name(), "team/arxiv");
  EXPECT_EQ(job.meta.uid, "u1");
  EXPECT_EQ(job.meta.generation, 2);
  EXPECT_EQ(job.meta.version, "77");
  EXPECT_EQ(job.meta.label("kueue.x-k8s.io/queue-name"), "q");
  EXPECT_FALSE(job.meta.deletion);
  EXPECT_EQ(job.priority_class, "high");
  EXPECT_EQ(job.job->placement.ranks, 4);
  EXPECT_EQ(job.job->resources.cpu, 0.5);
  EXPECT_TRUE(job.job->run_policy.suspend);
  EXPECT_EQ(job.status.attempt, 3);
}

TEST(GnnJob, WhatTheEngineRefusesIsSaidInItsWords) {
  json bad = object();
  bad["spec"]["placement"]["ranksPerServer"] = 3;
  const GnnJob job = read_gnn_job(bad.dump());
  EXPECT_FALSE(job.job);
  EXPECT_THAT(job.refusal,
              HasSubstr("placement.ranksPerServer: 3 does not divide placement.ranks 4 (use 1, 2 or 4)"));
  EXPECT_THAT(job.refusal, testing::Not(HasSubstr("manifest")));
  bad["spec"]["model"]["kind"] = "gcm";
  EXPECT_THAT(read_gnn_job(bad.dump()).refusal, HasSubstr("model.kind: 'gcm' is unknown (did you mean gcn?"));
}

TEST(GnnJob, OfALargeSpecNothingIsKept) {
  json large = object();
  large["metadata"]["annotations"] = {{"note", std::string(200'000, 'n')}};
  for (int i = 0; i < 1000; ++i)
    for (const char* prefix : {"", "atoll.dev/", "kueue.x-k8s.io/"})
      large["metadata"]["labels"][prefix + ("l" + std::to_string(i))] = "v";
  GnnJob job = read_gnn_job(large.dump());
  EXPECT_TRUE(job.job) << job.refusal;
  EXPECT_TRUE(job.meta.annotations.empty());
  EXPECT_EQ(job.meta.labels.size(), 1);
  large["spec"]["template"]["spec"]["containers"] =
      json::array({{{"name", "engine"}, {"args", json::array({std::string(100'000, 'x')})}}});
  job = read_gnn_job(large.dump());
  EXPECT_FALSE(job.job);
  EXPECT_THAT(job.refusal,
              testing::AllOf(HasSubstr("spec: is 98 KiB"), HasSubstr("at most 64"), HasSubstr("ConfigMap")));
  EXPECT_LT(job.manifest.size() + job.refusal.size(), 1000);
  EXPECT_EQ(job.status.attempt, 3);
}

TEST(GnnJob, OfOneThatHasEndedThatStaysWhichItsCleanUpNeeds) {
  json ended = object();
  ended["spec"]["runPolicy"]["ttlSecondsAfterFinished"] = 60;
  ended["status"]["conditions"] = parse_json(R"([{"type": "Failed", "status": "True", "reason": "Exit",
    "message": "", "lastTransitionTime": "2026-03-01T12:00:00Z"}])");
  const GnnJob job = read_gnn_job(ended.dump());
  ASSERT_TRUE(job.job) << job.refusal;
  EXPECT_EQ(job.job->run_policy.ttl_seconds_after_finished, 60);
  EXPECT_EQ(job.status.attempt, 3);
  EXPECT_EQ(job.manifest + job.job->template_ + job.job->dataset.volume, "");
}

TEST(GnnJob, TheManifestForTheEngineHoldsNothingOfKubernetes) {
  const json manifest = parse_json(read_gnn_job(object().dump()).manifest);
  EXPECT_EQ(manifest.at("metadata"), (json{{"name", "arxiv"}, {"namespace", "team"}}));
  EXPECT_FALSE(manifest.contains("status"));
}

TEST(GnnJob, WhatDoesNotChangeTrainingDoesNotChangeTheDigest) {
  json other = object();
  other["spec"]["runPolicy"]["suspend"] = false;
  other["metadata"]["generation"] = 9;
  EXPECT_EQ(read_gnn_job(other.dump()).made_of.manifest, read_gnn_job(object().dump()).made_of.manifest);
  other["spec"]["placement"]["ranks"] = 2;
  EXPECT_NE(read_gnn_job(other.dump()).made_of.manifest, read_gnn_job(object().dump()).made_of.manifest);
}

TEST(GnnJob, WhatTheDataSetsPartsDoNotDependOnDoesNotChangeThePreparesDigest) {
  const GnnJob before = read_gnn_job(object().dump());
  json other = object();
  other["spec"]["resources"]["memory"] = "64Gi";
  other["spec"]["template"] = {{"spec", {{"nodeSelector", {{"disk", "ssd"}}}}}};
  other["spec"]["placement"]["topologyLevels"] = {"rack"};
  other["spec"]["training"]["epochs"] = 7;
  EXPECT_NE(read_gnn_job(other.dump()).made_of.manifest, before.made_of.manifest);
  EXPECT_EQ(read_gnn_job(other.dump()).made_of.prepared, before.made_of.prepared);
  for (const char* field : {"/spec/placement/ranks", "/spec/placement/ranksPerServer"}) {
    json changed = object();
    changed[json::json_pointer(field)] = 3;
    EXPECT_NE(read_gnn_job(changed.dump()).made_of.prepared, before.made_of.prepared) << field;
  }
  other = object();
  other["spec"]["dataset"]["name"] = "another";
  EXPECT_NE(read_gnn_job(other.dump()).made_of.prepared, before.made_of.prepared);
}

TEST(GnnJob, ADefaultThatTheServerSpellsOutDoesNotChangeWhatItIsMadeOf) {
  const MadeOf before = read_gnn_job(object().dump()).made_of;
  json served = object();
  served["spec"]["training"] = {{"seed", 1}, {"checkpoint", {{"every", 50}, {"keep", 2}}}};
  served["spec"]["model"]["options"] = json::object();
  served["spec"]["strategy"] = {{"kind", "graph"}, {"wire", "float32"}};
  EXPECT_EQ(read_gnn_job(served.dump()).made_of, before);
  served["spec"]["training"]["checkpoint"]["keep"] = 3;
  EXPECT_NE(read_gnn_job(served.dump()).made_of, before);
}

TEST(GnnJob, IsMadeOfWhatWasRecordedUntilSomebodyAsksForSomethingElse) {
  json job = object();
  const MadeOf read = read_gnn_job(job.dump()).made_of,
               recorded{"0123456789", "9876543210", "atoll/engine:1"};
  job["status"] = {
      {"observedGeneration", 2},
      {"madeOf",
       {{"manifest", recorded.manifest}, {"prepared", recorded.prepared}, {"image", recorded.image}}}};
  EXPECT_EQ(read_gnn_job(job.dump()).made_of, recorded) << "nobody has changed it since";
  job["metadata"]["generation"] = 3;
  EXPECT_EQ(read_gnn_job(job.dump()).made_of, read);
  job["status"]["madeOf"]["manifest"] = read.manifest;
  EXPECT_EQ(read_gnn_job(job.dump()).made_of, (MadeOf{read.manifest, recorded.prepared, recorded.image}))
      << "what was changed is of no weight";
}

TEST(GnnJob, HasPodsOfTheSizeThatWasChosenInJobAndManifestAlike) {
  json open = object();
  open["spec"]["placement"] = {{"ranks", 4}};
  const GnnJob given = read_gnn_job(open.dump());
  EXPECT_FALSE(given.has_chosen_pod_size);
  json said = open;
  said["spec"]["placement"]["ranksPerServer"] = 2;
  const GnnJob as_if = read_gnn_job(said.dump());
  open["status"]["podSize"] = {{"ranksPerServer", 2}, {"reason", "a node has 2"}};
  GnnJob chosen = read_gnn_job(open.dump());
  EXPECT_TRUE(chosen.has_chosen_pod_size);
  EXPECT_EQ(chosen.job->placement.ranks_per_server, 2);
  EXPECT_EQ(chosen.manifest, as_if.manifest) << "pods read it";
  EXPECT_EQ(chosen.made_of, as_if.made_of) << "so nothing is taken for what was made without";
  EXPECT_NE(chosen.made_of.prepared, given.made_of.prepared) << "parts are grouped by pods";
  set_pod_size(chosen, 0);
  EXPECT_EQ(chosen.job->placement.ranks_per_server, 0);
  EXPECT_EQ(chosen.made_of, given.made_of);
}

TEST(GnnJob, HasPodsOfItsOwnSizeWhereAChosenOneDoesNotSuitIt) {
  const auto ranks_of_a_pod = [](json job, const json& size) {
    job["status"]["podSize"] = {{"ranksPerServer", size}};
    const GnnJob read = read_gnn_job(job.dump());
    EXPECT_FALSE(read.has_chosen_pod_size);
    return read.job->placement.ranks_per_server;
  };
  json open = object();
  open["spec"]["placement"] = {{"ranks", 4}};
  for (const json& size : {json(3), json(8), json(1), json(0), json(-2), json("2"), json()})
    EXPECT_EQ(ranks_of_a_pod(open, size), 0) << size;
  EXPECT_EQ(ranks_of_a_pod(object(), 4), 2) << "the manifest says 2";
  json refused = open;
  refused["spec"]["strategy"] = {{"kind", "p3"}, {"p3", {{"copies", 4}}}};
  EXPECT_EQ(ranks_of_a_pod(refused, 2), 0) << "4 copies among 2 servers";
}

TEST(GnnJob, FieldsOfALaterReleaseAreNamedAndLeftOut) {
  json later = object();
  later["spec"]["training"] = {{"novelty", 0.5}};
  later["spec"]["sparkle"] = {{"of", "ranks"}};
  const GnnJob job = read_gnn_job(later.dump());
  ASSERT_TRUE(job.job) << job.refusal;
  EXPECT_THAT(job.unknown, testing::ElementsAre("sparkle", "training.novelty"));
  EXPECT_EQ(job.made_of, read_gnn_job(object().dump()).made_of);
  EXPECT_THAT(job.manifest, testing::Not(HasSubstr("novelty")));
}

TEST(GnnJob, IsAnObject) {
  EXPECT_THROW(read_gnn_job("[1]"), Error);
  EXPECT_THROW(read_gnn_job("{"), Error);
}

}  // namespace
}  // namespace atl::ctl
