// The pods of a job as the API server would get them.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/plan/gang.h"
#include "operator/plan/snapshot.h"
#include "operator_api/sample_job.h"
#include "operator_objects/restricted_profile.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Settings kSettings{.image = "atoll/engine:1"};

json prepare(Changes changes = {}) {
  return json::parse(prepare_pod(sample_job(changes), kSettings, Moment{}));
}
json worker(Changes changes = {}, int server = 1, const std::vector<Rank>& ranks = {2, 3}) {
  return json::parse(worker_pod(sample_job(changes), kSettings, server, ranks, 7));
}
json launcher(Changes changes = {}) {
  return json::parse(launcher_pod(sample_job(changes), kSettings, 3));
}
const json& engine(const json& pod) {
  return pod.at("spec").at("containers").at(0);
}

/// Mount path → the volume's source.
std::map<std::string, json> mounts(const json& pod) {
  std::map<std::string, json> sources, at;
  for (json volume : pod.at("spec").at("volumes")) {
    const std::string name = volume.at("name");
    volume.erase("name");
    EXPECT_TRUE(sources.emplace(name, volume).second) << name << " twice";
  }
  for (const json& m : engine(pod).at("volumeMounts")) at[m.at("mountPath")] = sources.at(m.at("name"));
  return at;
}

TEST(Pods, MeetTheRestrictedLevelAndHoldNoCredentials) {
  for (const json& pod : {prepare(), worker(), worker({}, 0, {0, 1}), launcher()}) {
    EXPECT_THAT(restricted_faults(pod), IsEmpty()) << pod.dump();
    EXPECT_EQ(pod.at("spec").at("automountServiceAccountToken"), false);
    EXPECT_EQ(engine(pod).at("securityContext").at("readOnlyRootFilesystem"), true);
    EXPECT_FALSE(pod.at("spec").at("securityContext").contains("runAsUser")) << "any user will do";
  }
}

TEST(Pods, BelongToTheirJob) {
  for (const json& pod : {prepare(), worker(), launcher()}) {
    const json& owner = pod.at("metadata").at("ownerReferences").at(0);
    EXPECT_EQ(owner.at("uid"), "job-uid");
    EXPECT_EQ(owner.at("kind"), "GNNJob");
    EXPECT_EQ(owner.at("controller"), true);
    EXPECT_EQ(pod.at("metadata").at("labels").at(kJobLabel), "cora");
    EXPECT_EQ(pod.at("metadata").at("namespace"), "team");
    EXPECT_EQ(pod.at("spec").at("restartPolicy"), "Never");
  }
}

TEST(Pods, HaveScratchAndTheManifest) {
  for (const json& pod : {prepare(), worker(), launcher()}) {
    const auto at = mounts(pod);
    for (const char* scratch : {"/tmp", "/run/atoll", "/var/lib/extrausers"})
      EXPECT_EQ(at.at(scratch), json::parse(R"({"emptyDir": {}})"));
    const std::string map = at.at("/etc/atoll/job").at("configMap").at("name");
    EXPECT_EQ(map, json::parse(job_config_map(sample_job())).at("metadata").at("name"));
  }
}

TEST(Pods, AreReplacedSoonAfterTheirNodeIsGone) {
  const json tolerations = worker().at("spec").at("tolerations");
  for (const json& toleration : tolerations) {
    EXPECT_EQ(toleration.at("tolerationSeconds"), 30);
    EXPECT_EQ(toleration.at("effect"), "NoExecute");
  }
  EXPECT_EQ(tolerations.size(), 2u);
}

TEST(Worker, IsNamedMarkedAndGated) {
  const json pod = worker();
  EXPECT_EQ(pod.at("metadata").at("name"), "cora-1-7");
  EXPECT_EQ(pod.at("metadata").at("labels").at(kRoleLabel), "worker");
  EXPECT_EQ(pod.at("metadata").at("labels").at(kServerLabel), "1");
  EXPECT_EQ(pod.at("metadata").at("annotations").at(kRanksAnnotation), "2,3");
  EXPECT_EQ(pod.at("spec").at("schedulingGates").at(0).at("name"), kGate);
  EXPECT_EQ(engine(pod).at("command"), (json{"atoll", "supervise", "--grace", "110"}));
  EXPECT_EQ(engine(pod).at("readinessProbe").at("tcpSocket").at("port"), 2222);
}

TEST(Worker, AsksForItsRanksAndTheirSharedMemory) {
  const json pod = worker();
  const auto& requests = engine(pod).at("resources").at("requests");
  EXPECT_EQ(requests.at("cpu"), "3000m");
  EXPECT_EQ(requests.at("memory"), std::to_string((2LL << 30) + 2 * kSettings.shared_memory));
  EXPECT_EQ(requests, engine(pod).at("resources").at("limits"));
  EXPECT_EQ(mounts(pod).at("/dev/shm").at("emptyDir").at("sizeLimit"),
            std::to_string(2 * kSettings.shared_memory));
  const json unstated = worker({{"/spec/resources", json::object()}});
  EXPECT_EQ(engine(unstated).at("resources").at("requests").at("memory"),
            std::to_string(2 * kSettings.shared_memory));
  EXPECT_TRUE(engine(unstated).at("resources").at("limits").empty());
}

TEST(Worker, AsksForAsMuchAsCanBeCountedAndNotForLessThanNothing) {
  const json pod = worker({{"/spec/resources/memory", "7E"}});
  EXPECT_EQ(engine(pod).at("resources").at("requests").at("memory"), "9223372036854775807");
}

TEST(Worker, OnlyThatOfRankZeroHasTheOutput) {
  EXPECT_EQ(mounts(worker({}, 0, {0, 1})).at("/output").at("persistentVolumeClaim").at("claimName"),
            "results");
  EXPECT_THAT(mounts(worker()), Not(Contains(testing::Key("/output"))));
  EXPECT_THAT(mounts(launcher()), Not(Contains(testing::Key("/output"))));
}

TEST(Worker, ReadsTheDataThatPrepareWrites) {
  auto mount_of = [](const json& pod) {
    for (const json& at : engine(pod).at("volumeMounts"))
      if (at.at("mountPath") == "/data") return at;
    return json();
  };
  EXPECT_EQ(mount_of(worker()).value("readOnly", false), true);
  EXPECT_EQ(mount_of(prepare()).value("readOnly", false), false);
}

TEST(Keys, TheLoginsSecretHalfIsOnTheLauncherAlone) {
  auto keys = [](const json& pod) {
    std::vector<std::string> files;
    const json items = mounts(pod).at("/etc/atoll/keys").at("secret").at("items");
    for (const json& item : items) files.push_back(item.at("key"));
    return files;
  };
  EXPECT_THAT(keys(worker()), ElementsAre("authorized_keys", "host_key"));
  EXPECT_THAT(keys(launcher()), ElementsAre("id_login", "known_hosts"));
  EXPECT_THAT(mounts(prepare()), Not(Contains(testing::Key("/etc/atoll/keys"))));
}

TEST(Launcher, IsGatedAndKnowsItsAttempt) {
  const json pod = launcher();
  EXPECT_EQ(pod.at("metadata").at("name"), "cora-launcher-3");
  EXPECT_EQ(pod.at("spec").at("schedulingGates").at(0).at("name"), kGate);
  EXPECT_EQ(mounts(pod).at("/etc/atoll/attempt").at("configMap").at("name"), "cora-attempt-3");
  const std::string command = engine(pod).at("command").dump();
  EXPECT_THAT(command, HasSubstr(R"("launch","-f","/etc/atoll/job/job.yaml")"));
  EXPECT_THAT(command, HasSubstr(R"("--result","/dev/termination-log")"));
  EXPECT_THAT(command, HasSubstr("StrictHostKeyChecking=yes"));
}

const Changes kOnGpus = {{"/spec/resources/nvidia.com~1gpu", 1}};

TEST(Gpus, AreTheWorkersAlone) {
  const json pod = worker(kOnGpus), resources = engine(pod).at("resources");
  EXPECT_EQ(resources.at("requests").at("nvidia.com/gpu"), 2) << "one of each rank";
  EXPECT_EQ(resources.at("limits").at("nvidia.com/gpu"), 2);
  EXPECT_THAT(engine(prepare(kOnGpus)).dump(), Not(HasSubstr("nvidia.com/gpu")))
      << "parts are made by processors";
  EXPECT_THAT(engine(launcher(kOnGpus)).dump(), Not(HasSubstr("nvidia.com/gpu")));
  EXPECT_THAT(worker().dump(), Not(HasSubstr("nvidia.com/gpu")));
}

/// The plan puts the launcher beside ranks, so it must be let in wherever they are.
TEST(Gpus, AllPodsOfTheirJobsMayBeOnNodesThatAreKeptForThem) {
  const NodeState kept{"n1", {}, {{"nvidia.com/gpu", "present", "NoSchedule"}}, false, true, {}};
  const auto refusal = [&](const json& pod) {
    return NodeFilter::of_template(json{{"spec", pod.at("spec")}}.dump()).refusal(kept);
  };
  EXPECT_EQ(filter_of(*sample_job(kOnGpus).job, "nvidia.com/gpu").refusal(kept), "") << "as it is planned";
  for (const json& pod : {prepare(kOnGpus), worker(kOnGpus), launcher(kOnGpus)}) EXPECT_EQ(refusal(pod), "");
  for (const json& pod : {prepare(), worker(), launcher()}) EXPECT_NE(refusal(pod), "");
}

TEST(Gpus, HaveAnEngineAndANameOfTheOperators) {
  Settings settings = kSettings;
  settings.gpu_resource = "example.com/card";
  EXPECT_EQ(engine_image(sample_job(kOnGpus), settings), "atoll/engine:1") << "where there is no other";
  settings.cuda_image = "atoll/engine-cuda:1";
  EXPECT_EQ(engine_image(sample_job(kOnGpus), settings), "atoll/engine-cuda:1");
  EXPECT_EQ(engine_image(sample_job(), settings), "atoll/engine:1");
  EXPECT_EQ(
      engine_image(sample_job({{"/spec/resources/nvidia.com~1gpu", 1}, {"/spec/image", "mine:1"}}), settings),
      "mine:1");
  const json pod = json::parse(worker_pod(sample_job(kOnGpus), settings, 1, {2, 3}, 7));
  EXPECT_EQ(engine(pod).at("resources").at("limits").at("example.com/card"), 2);
  Resources server = gang_of(*sample_job(kOnGpus).job, {}, "example.com/card").server;
  server.add("memory", double(2 * settings.shared_memory));
  EXPECT_EQ(requests_of(pod.at("spec")), server);
}

/// NCCL's variables of a worker with so many of the job's four ranks.
json nccl_of(const Changes& changes, std::vector<Rank> ranks, const Settings& settings) {
  json variables = json::object();
  const json pod = json::parse(worker_pod(sample_job(changes), settings, 1, ranks, 7));
  for (const json& each : engine(pod).at("env"))
    if (each.at("name").get<std::string>().starts_with("NCCL_")) {
      EXPECT_FALSE(variables.contains(each.at("name")));
      variables[each.at("name").get<std::string>()] = each.at("value");
    }
  return variables;
}

TEST(Gpus, HaveNcclsVariablesByPlaceAndSettings) {
  Settings settings = kSettings;
  const std::vector<Rank> some{2, 3}, all{0, 1, 2, 3};
  EXPECT_EQ(nccl_of(kOnGpus, some, settings), json::object());
  EXPECT_EQ(nccl_of(kOnGpus, all, settings), (json{{"NCCL_SOCKET_IFNAME", "lo"}})) << "they are in one pod";
  EXPECT_EQ(nccl_of({}, all, settings), json::object()) << "on no GPU";
  settings.nccl = {{"NCCL_DEBUG", "WARN"}, {"NCCL_SOCKET_IFNAME", "eth0"}};
  const json given{{"NCCL_DEBUG", "WARN"}, {"NCCL_SOCKET_IFNAME", "eth0"}};
  EXPECT_EQ(nccl_of(kOnGpus, some, settings), given);
  EXPECT_EQ(nccl_of(kOnGpus, all, settings), given);
  const json debug = json::parse(
      R"({"spec": {"containers": [{"name": "engine", "env": [{"name": "NCCL_DEBUG", "value": "INFO"}]}]}})");
  const json of_job =
      nccl_of({{"/spec/resources/nvidia.com~1gpu", 1}, {"/spec/template", debug}}, some, settings);
  EXPECT_EQ(of_job.at("NCCL_DEBUG"), "INFO") << "the manifest has the last word";
}

TEST(Plan, CountsWhatThePodsAskFor) {
  EXPECT_EQ(requests_of(launcher().at("spec")), gang_of(*sample_job().job, {}).launcher);
  Resources server = gang_of(*sample_job().job, {}).server;
  server.add("memory", double(2 * kSettings.shared_memory));
  EXPECT_EQ(requests_of(worker().at("spec")), server);
}

}  // namespace
}  // namespace atl::ctl
