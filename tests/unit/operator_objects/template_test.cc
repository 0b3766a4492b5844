// The user's pod template merged into the generated pods.
#include "operator/objects/template.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator_api/sample_job.h"
#include "operator_objects/restricted_profile.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

GnnJob with_template(const std::string& text) {
  return sample_job({{"/spec/template", parse_json(text)}});
}
json worker(const std::string& text) {
  const GnnJob job = with_template(text);
  EXPECT_THAT(template_faults(*job.job, {}), IsEmpty());
  return parse_json(worker_pod(job, {}, 1, {2, 3}, 0));
}
std::vector<std::string> faults(const std::string& text) {
  return template_faults(*with_template(text).job, {});
}

TEST(Template, JoinsWhatIsThere) {
  const json pod = worker(R"({"metadata": {"labels": {"team": "graphs"}, "annotations": {"note": "x"}},
    "spec": {"nodeSelector": {"disk": "ssd"}, "imagePullSecrets": [{"name": "registry"}], "priorityClassName": "high",
             "tolerations": [{"key": "dedicated", "operator": "Exists"}], "terminationGracePeriodSeconds": 600,
             "securityContext": {"fsGroup": null, "runAsUser": 1234}}})");
  EXPECT_EQ(pod.at("metadata").at("labels").at("team"), "graphs");
  EXPECT_EQ(pod.at("metadata").at("labels").at("atoll.dev/job"), "cora");
  EXPECT_EQ(pod.at("metadata").at("annotations").at("atoll.dev/ranks"), "2,3");
  const json& spec = pod.at("spec");
  EXPECT_EQ(spec.at("nodeSelector").at("disk"), "ssd");
  EXPECT_EQ(spec.at("imagePullSecrets").at(0).at("name"), "registry");
  EXPECT_EQ(spec.at("priorityClassName"), "high");
  EXPECT_EQ(spec.at("tolerations").size(), 3u);
  EXPECT_EQ(spec.at("terminationGracePeriodSeconds"), 600);
  EXPECT_EQ(spec.at("containers").at(0).at("command").back(), "590") << "the ranks may use it";
  EXPECT_FALSE(spec.at("securityContext").contains("fsGroup"));
  EXPECT_EQ(spec.at("securityContext").at("runAsNonRoot"), true);
  EXPECT_THAT(restricted_faults(pod), IsEmpty());
}

TEST(Template, ChangesTheEnginesContainer) {
  const json pod = worker(R"({"spec": {"containers": [{"name": "engine",
    "env": [{"name": "HTTP_PROXY", "value": "p"}], "envFrom": [{"secretRef": {"name": "s"}}],
    "resources": {"limits": {"rdma/hca": 1}},
    "volumeMounts": [{"name": "cache", "mountPath": "/cache"}]}], "volumes": [{"name": "cache", "emptyDir": {}}]}})");
  const json& engine = pod.at("spec").at("containers").at(0);
  EXPECT_EQ(pod.at("spec").at("containers").size(), 1u);
  std::vector<std::string> names;
  for (const json& variable : engine.at("env")) names.push_back(variable.at("name"));
  EXPECT_THAT(names, ElementsAre("ATOLL_SERVER", "ATOLL_RANKS", "ATOLL_POD", "ATOLL_NODE", "HTTP_PROXY"));
  EXPECT_EQ(engine.at("envFrom").size(), 1u);
  EXPECT_EQ(engine.at("resources").at("limits").at("rdma/hca"), 1);
  EXPECT_EQ(engine.at("resources").at("limits").at("cpu"), "3000m");
  EXPECT_EQ(engine.at("volumeMounts").back().at("mountPath"), "/cache");
}

TEST(Template, DevicesOfRanksAreNotTheLaunchers) {
  const GnnJob job = with_template(
      R"({"spec": {"containers": [{"name": "engine", "env": [{"name": "A", "value": "1"}],
        "resources": {"limits": {"rdma/hca": 1}}}]}})");
  const json engine = parse_json(launcher_pod(job, {}, 1)).at("spec").at("containers").at(0);
  EXPECT_EQ(engine.at("env").at(0).at("name"), "A");
  EXPECT_FALSE(engine.at("resources").at("limits").contains("rdma/hca"));
}

TEST(Template, ResourcesOfTheLauncherAreSaidUnderItsName) {
  const GnnJob job = with_template(R"({"spec": {"containers": [
      {"name": "engine", "env": [{"name": "A", "value": "1"}]},
      {"name": "launcher", "resources": {"requests": {"memory": "3Gi"}, "limits": {"memory": "4Gi", "cpu": 2}}}]}})");
  EXPECT_THAT(template_faults(*job.job, {}), IsEmpty());
  const json theirs = parse_json(launcher_pod(job, {}, 1)).at("spec").at("containers");
  ASSERT_EQ(theirs.size(), 1u);
  EXPECT_EQ(theirs.at(0).at("name"), "engine");
  EXPECT_EQ(theirs.at(0).at("env").at(0).at("name"), "A");
  EXPECT_EQ(theirs.at(0).at("resources"), (json{{"requests", {{"cpu", "100m"}, {"memory", "3Gi"}}},
                                                {"limits", {{"memory", "4Gi"}, {"cpu", 2}}}}));
  for (const std::string& other : {worker_pod(job, {}, 1, {2, 3}, 0), prepare_pod(job, {}, Moment{})})
    EXPECT_EQ(parse_json(other).dump().find("4Gi"), std::string::npos) << "not of other pods";
}

/// The API server refuses a container that asks for more than it may have.
TEST(Template, OneResourceOfTheLauncherMovesTheOtherWithIt) {
  const auto resources = [](const std::string& said) {
    const GnnJob job =
        with_template(R"({"spec": {"containers": [{"name": "launcher", "resources": )" + said + "}]}}");
    return parse_json(launcher_pod(job, {}, 1)).at("spec").at("containers").at(0).at("resources");
  };
  const json usual = {{"requests", {{"cpu", "100m"}, {"memory", "128Mi"}}},
                      {"limits", {{"memory", "512Mi"}}}};
  const auto changed = [&](std::vector<std::pair<const char*, json>> changes) {
    json all = usual;
    for (const auto& [pointer, value] : changes) all[json::json_pointer(pointer)] = value;
    return all;
  };
  EXPECT_EQ(resources(R"({"requests": {"memory": "1Gi"}})"),
            changed({{"/requests/memory", "1Gi"}, {"/limits/memory", "1Gi"}}));
  EXPECT_EQ(resources(R"({"limits": {"cpu": "50m"}})"),
            changed({{"/requests/cpu", "50m"}, {"/limits/cpu", "50m"}}));
  EXPECT_EQ(resources(R"({"requests": {"memory": "256Mi"}})"), changed({{"/requests/memory", "256Mi"}}));
  EXPECT_EQ(resources(R"({"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}})"),
            changed({{"/requests/memory", "2Gi"}, {"/limits/memory", "1Gi"}}))
      << "both are said: the API server's to refuse";
}

/// The operator builds pods and counts them before the API server has judged any.
TEST(Template, OfWrongTypesIsRefusedOrTheApiServersToRefuse) {
  const std::string affinity = R"({"spec": {"affinity": {"nodeAffinity": {)"
                               R"("requiredDuringSchedulingIgnoredDuringExecution": )";
  Settings settings;
  settings.architectures = {"amd64", "arm64"};  // so that the node affinity is narrowed
  for (const std::string& text : std::initializer_list<std::string>{
           R"({"spec": null})", R"({"spec": "x"})", R"({"spec": {"containers": "engine"}})",
           R"({"spec": {"containers": [{"name": "engine", "env": "x", "resources": [1]}]}})",
           R"({"spec": {"terminationGracePeriodSeconds": "long", "volumes": {}, "tolerations": null}})",
           R"({"spec": {"containers": [{"name": "engine", "securityContext": null}]}})",
           R"({"spec": {"containers": [{"name": "launcher", "resources": [1]}]}})",
           R"({"spec": {"containers": [{"name": "engine", "resources": {"limits": "x"}}]}})",
           R"({"spec": {"initContainers": [{"name": "a", "resources": {"requests": {"cpu": "x"}}}]}})",
           R"({"spec": {"nodeSelector": "x", "resources": {"requests": {"memory": []}}}})",
           R"({"spec": {"affinity": {"nodeAffinity": 3}}})", affinity + "[]}}}}", affinity + "null}}}}",
           affinity + R"({"nodeSelectorTerms": {}}}}}})",
           affinity + R"({"nodeSelectorTerms": [null, "x"]}}}}})",
           affinity + R"({"nodeSelectorTerms": [{"matchExpressions": "x"}]}}}}})",
           affinity + R"({"nodeSelectorTerms": [null]}}}}})",
           R"({"metadata": {"labels": [1], "annotations": "x"}, "spec": {"affinity": 3}})"}) {
    const GnnJob job = with_template(text);
    ASSERT_TRUE(job.job) << job.refusal;
    if (!template_faults(*job.job, settings).empty()) continue;
    EXPECT_NO_THROW(read_pod(worker_pod(job, settings, 0, {0, 1}, 0))) << text;
    EXPECT_NO_THROW(read_pod(launcher_pod(job, settings, 1))) << text;
    EXPECT_NO_THROW(read_pod(prepare_pod(job, settings, Moment{}))) << text;
  }
}

TEST(Template, WhatWouldBreakAJobIsRefusedByName) {
  EXPECT_THAT(
      faults(R"({"spec": {"hostNetwork": true}})"),
      ElementsAre("template.spec.hostNetwork: can't be set (every pod's sshd needs port 2222 for itself)"));
  for (const char* name : {"hostnameOverride", "schedulingGroup", "workloadRef"})
    EXPECT_THAT(faults(R"({"spec": {")" + std::string(name) + R"(": "a"}})"),
                ElementsAre(HasSubstr("template.spec." + std::string(name) + ": can't be set")));
  for (const char* name : {"restartPolicy", "restartPolicyRules"})
    EXPECT_THAT(
        faults(R"({"spec": {"containers": [{"name": "engine", ")" + std::string(name) + R"(": "Always"}]}})"),
        ElementsAre(HasSubstr("runPolicy.backoffLimit says how often the job is restarted")));
  const std::pair<const char*, const char*> cases[] = {
      {R"({"spec": {"schedulingGates": []}})", "template.spec.schedulingGates"},
      {R"({"spec": {"affinity": {"podAntiAffinity": {}}}})", "template.spec.affinity.podAntiAffinity"},
      {R"({"spec": {"volumes": [{"name": "shm"}]}})", "template.spec.volumes[shm]"},
      {R"({"spec": {"containers": [{"name": "logger"}]}})", "template.spec.containers[logger]"},
      {R"({"spec": {"containers": [{"name": "launcher", "command": ["sh"]}]}})",
       "template.spec.containers[launcher].command: can't be set (only resources can"},
      {R"({"spec": {"containers": [{"name": "launcher", "resources": {"limits": {"memory": "much"}}}]}})",
       "template.spec.containers[launcher].resources.limits.memory: 'much' is no quantity"},
      {R"({"spec": {"containers": [{"name": "engine", "image": "x"}]}})",
       "template.spec.containers[engine].image"},
      {R"({"spec": {"containers": [{"name": "engine", "env": [{"name": "ATOLL_RANKS"}]}]}})",
       "containers[engine].env[ATOLL_RANKS]"},
      {R"({"spec": {"containers": [{"name": "engine", "resources": {"limits": {"cpu": 1}}}]}})",
       "resources.limits.cpu: can't be set (use spec.resources)"},
      {R"({"spec": {"containers": [{"name": "engine", "volumeMounts": [{"mountPath": "/tmp"}]}]}})",
       "/tmp is taken"},
      {R"({"metadata": {"labels": {"atoll.dev/job": "other"}}})", "template.metadata.labels.atoll.dev/job"},
      {R"({"metadata": {"labels": {"kueue.x-k8s.io/podset": "worker"}}})",
       "template.metadata.labels.kueue.x-k8s.io/podset: is the operator's (placement.within asks Kueue"},
      {R"({"metadata": {"annotations": {"kueue.x-k8s.io/workload": "gnnjob-other"}}})",
       "template.metadata.annotations.kueue.x-k8s.io/workload"},
      {R"({"metadata": {"annotations": {"kueue.x-k8s.io/podset-unconstrained-topology": "true"}}})",
       "template.metadata.annotations.kueue.x-k8s.io/podset-unconstrained-topology"},
      {R"({"spec": {"containers": [{"name": "engine", "resources": {"requests": {"ephemeral-storage": "10GB"}}}]}})",
       "template.spec.containers[engine].resources.requests.ephemeral-storage: '10GB' is no quantity"},
      {R"({"spec": {"initContainers": [{"name": "copy", "resources": {"limits": {"memory": "1 Gi"}}}]}})",
       "template.spec.initContainers[copy].resources.limits.memory: '1 Gi' is no quantity"},
      {R"({"spec": {"resources": {"requests": {"cpu": "two"}}}})",
       "template.spec.resources.requests.cpu: 'two' is no quantity"},
      {R"({"spec": {"overhead": {"cpu": "some"}}})", "template.spec.overhead.cpu: 'some' is no quantity"},
      {R"({"spec": {"nodeSelector": ["disk=ssd"]}})", "template.spec.nodeSelector: is no object"},
      {R"({"spec": {"affinity": {"nodeAffinity": []}}})",
       "template.spec.affinity.nodeAffinity: is no object"},
      {R"({"metadata": {"name": "x"}})", "template.metadata.name"},
      {R"({"tolerations": []})", "template.tolerations: is not a field of a pod template"},
  };
  for (const auto& [text, words] : cases) EXPECT_THAT(faults(text), ElementsAre(HasSubstr(words))) << text;
}

TEST(Template, AnAcceptedJobKeepsTheFieldsThatAnEarlierReleaseAllowed) {
  const auto faults_of_accepted = [](const std::string& text) {
    return template_faults(*with_template(text).job, {}, true);
  };
  EXPECT_THAT(
      faults_of_accepted(R"({"spec": {"hostnameOverride": "a", "schedulingGroup": {}, "workloadRef": {},
                "containers": [{"name": "engine", "restartPolicy": "Never", "restartPolicyRules": []}]}})"),
      IsEmpty());
  EXPECT_THAT(faults_of_accepted(R"({"spec": {"restartPolicy": "Always"}})"),
              ElementsAre(HasSubstr("template.spec.restartPolicy: can't be set")))
      << "no release has allowed that";
}

/// As an earlier release allowed them.
TEST(Template, MarksOfKueuesAreLeftOutOfAnAcceptedJobsPods) {
  const GnnJob job = with_template(R"({"metadata": {
      "labels": {"kueue.x-k8s.io/podset": "worker", "team": "graphs"},
      "annotations": {"kueue.x-k8s.io/podset-unconstrained-topology": "true", "kueue.x-k8s.io/workload": "w"}}})");
  EXPECT_THAT(template_faults(*job.job, {}, true), IsEmpty());
  json pod;
  merge_template(pod, *job.job, kWorkerRole);
  EXPECT_EQ(pod.at("metadata").at("labels"), json({{"team", "graphs"}}));
  EXPECT_EQ(pod.at("metadata").value("annotations", json::object()), json::object());
}

TEST(Template, GpusAreSaidInOnePlaceWhateverTheyAreCalled) {
  const auto faults_of = [](const std::string& resource, const Settings& settings) {
    const json limits = {{resource, 1}};
    const json engine = {{"name", "engine"}, {"resources", {{"limits", limits}}}},
               other = {
                   {"name", "monitor"}, {"restartPolicy", "Always"}, {"resources", {{"requests", limits}}}};
    const json spec = {{"containers", {engine}}, {"initContainers", {other}}};
    return template_faults(*with_template(json{{"spec", spec}}.dump()).job, settings);
  };
  EXPECT_THAT(faults_of("example.com/card", {}), IsEmpty());
  EXPECT_THAT(faults_of("rdma/hca", {}), IsEmpty());
  EXPECT_THAT(faults_of("nvidia.com/hostdev", {}), IsEmpty()) << "a network card";
  const Settings cards{.gpu_resource = "example.com/card"};
  for (const auto& [resource, settings] : {std::pair{"example.com/card", cards},
                                           {"nvidia.com/gpu", {}},
                                           {"nvidia.com/gpu", cards},
                                           {"nvidia.com/gpu.shared", {}},
                                           {"nvidia.com/mig-3g.40gb", {}}}) {
    const std::string why =
        "can't be set (a job's GPUs are all " + settings.gpu_resource + ": use spec.resources)";
    EXPECT_THAT(faults_of(resource, settings),
                testing::UnorderedElementsAre(
                    "template.spec.containers[engine].resources.limits." + std::string(resource) + ": " + why,
                    "template.spec.initContainers[monitor].resources.requests." + std::string(resource) +
                        ": " + why));
  }
}

TEST(Template, VolumesThatEachPodHasEmptyAreRefused) {
  const auto of_volume = [](const char* field, const char* kind) {
    return template_faults(*sample_job({{field, {{kind, json::object()}}}}).job, {});
  };
  EXPECT_THAT(
      of_volume("/spec/dataset/volume", "emptyDir"),
      ElementsAre(HasSubstr("dataset.volume.emptyDir: can't be set (each pod would have an empty one")));
  for (const char* kind : {"emptyDir", "ephemeral"})
    EXPECT_THAT(of_volume("/spec/dataset/prepared", kind),
                ElementsAre(HasSubstr("dataset.prepared." + std::string(kind) + ": can't be set")));
  EXPECT_THAT(of_volume("/spec/dataset/volume", "ephemeral"), IsEmpty()) << "it may be a clone";
  EXPECT_THAT(of_volume("/spec/output/volume", "emptyDir"), IsEmpty()) << "of one pod in any case";
}

}  // namespace
}  // namespace atl::ctl
