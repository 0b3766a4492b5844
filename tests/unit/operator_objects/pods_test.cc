// The pods of a job as the API server would get them.
#include <gmock/gmock.h>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/objects/settings.h"
#include "operator/plan/gang.h"
#include "operator/plan/snapshot.h"
#include "operator_objects/restricted_profile.h"
#include "operator_objects/sample_pods.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Pods, MeetTheRestrictedLevelAndHoldNoCredentials) {
  for (const json& pod : {prepare(), worker(), worker({}, 0, {0, 1}), launcher()}) {
    EXPECT_THAT(restricted_faults(pod), IsEmpty()) << pod.dump();
    EXPECT_EQ(pod.at("spec").at("automountServiceAccountToken"), false);
    EXPECT_EQ(engine(pod).at("securityContext").at("readOnlyRootFilesystem"), true);
    EXPECT_FALSE(pod.at("spec").at("securityContext").contains("runAsUser")) << "any user will do";
  }
}

TEST(Pods, GoToNodesThatTheEnginesImageRunsOn) {
  Settings settings = kSettings;
  settings.architectures = {"amd64"};
  const GnnJob job = sample_job();
  for (const std::string& text : {prepare_pod(job, settings, Moment{}),
                                  worker_pod(job, settings, 1, {2, 3}, 0), launcher_pod(job, settings, 1)}) {
    const json expected = {{"kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "amd64"}};
    EXPECT_EQ(parse_json(text).at("spec").at("nodeSelector"), expected);
  }
}

TEST(Pods, GoToLinuxNodesWhateverTheImagesAreBuiltFor) {
  for (const std::string& text :
       {prepare_pod(sample_job(), kSettings, Moment{}), launcher_pod(sample_job(), kSettings, 1)})
    EXPECT_EQ(parse_json(text).at("spec").at("nodeSelector"), json({{"kubernetes.io/os", "linux"}}));
}

TEST(Pods, GoToNodesOfSeveralArchitecturesBesideWhatTheTemplateDemands) {
  Settings settings = kSettings;
  settings.architectures = {"amd64", "arm64"};
  const json disks = {{{"key", "disk"}, {"operator", "In"}, {"values", {"ssd"}}}};
  const json terms = {{{"matchExpressions", disks}}, {{"matchFields", json::array()}}};
  const GnnJob job =
      sample_job({{"/spec/template/spec/affinity/nodeAffinity",
                   {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}});
  const json spec = parse_json(worker_pod(job, settings, 1, {2, 3}, 0)).at("spec");
  const json rule = {{"key", "kubernetes.io/arch"}, {"operator", "In"}, {"values", {"amd64", "arm64"}}};
  for (const json& term : spec.at("affinity")
                              .at("nodeAffinity")
                              .at("requiredDuringSchedulingIgnoredDuringExecution")
                              .at("nodeSelectorTerms"))
    EXPECT_EQ(term.at("matchExpressions").back(), rule);
  EXPECT_FALSE(spec.at("nodeSelector").contains("kubernetes.io/arch"));
}

TEST(Pods, OfAnImageOfTheJobsOwnGoWhereItsTemplateSays) {
  Settings settings = kSettings;
  settings.architectures = {"amd64"};
  const GnnJob job =
      sample_job({{"/spec/template", {{"spec", {{"nodeSelector", {{"kubernetes.io/arch", "arm64"}}}}}}}});
  EXPECT_EQ(parse_json(worker_pod(job, settings, 1, {2, 3}, 0))
                .at("spec")
                .at("nodeSelector")
                .at("kubernetes.io/arch"),
            "arm64");
  NodeFilter filter = filter_of(*job.job, kGpuResource);
  filter.demand_platform(settings.architectures);
  const NodeState arm{"n1", {{"kubernetes.io/os", "linux"}, {"kubernetes.io/arch", "arm64"}}, {}, false, true,
                      {}};
  EXPECT_EQ(filter.refusal(arm), "");
}

TEST(Pods, NameTheSecretsThatTheEnginesImageIsPulledBy) {
  Settings settings = kSettings;
  settings.pull_secrets = {"registry", "mirror"};
  const GnnJob job = sample_job();
  for (const std::string& text : {prepare_pod(job, settings, Moment{}),
                                  worker_pod(job, settings, 1, {2, 3}, 0), launcher_pod(job, settings, 1)})
    EXPECT_EQ(parse_json(text).at("spec").at("imagePullSecrets"),
              parse_json(R"([{"name": "registry"}, {"name": "mirror"}])"));
  EXPECT_FALSE(worker().at("spec").contains("imagePullSecrets"));
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
      EXPECT_EQ(at.at(scratch), parse_json(R"({"emptyDir": {}})"));
    const std::string map = at.at("/etc/atoll/job").at("configMap").at("name");
    EXPECT_EQ(map, parse_json(job_config_map(sample_job())).at("metadata").at("name"));
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

TEST(Worker, HasAsMuchSharedMemoryAsItsJobAsksFor) {
  const json pod = worker({{"/spec/resources/sharedMemory", "2Gi"}});
  EXPECT_EQ(mounts(pod).at("/dev/shm").at("emptyDir").at("sizeLimit"), std::to_string(4LL << 30));
  EXPECT_EQ(engine(pod).at("resources").at("limits").at("memory"), std::to_string((2LL << 30) + (4LL << 30)));
  const json absurd = worker({{"/spec/resources/sharedMemory", "7E"}});
  EXPECT_EQ(mounts(absurd).at("/dev/shm").at("emptyDir").at("sizeLimit"), "9223372036854775807");
}

TEST(Worker, AsksForAsMuchAsCanBeCountedAndNotForLessThanNothing) {
  const json pod = worker({{"/spec/resources/memory", "7E"}});
  EXPECT_EQ(engine(pod).at("resources").at("requests").at("memory"), "9223372036854775807");
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
  const NodeState kept{
      "n1", {{"kubernetes.io/os", "linux"}}, {{"nvidia.com/gpu", "present", "NoSchedule"}}, false, true, {}};
  const auto refusal = [&](const json& pod) {
    return NodeFilter::of_template(json{{"spec", pod.at("spec")}}.dump()).refusal(kept);
  };
  EXPECT_EQ(filter_of(*sample_job(kOnGpus).job, "nvidia.com/gpu").refusal(kept), "") << "as it is planned";
  for (const json& pod : {prepare(kOnGpus), worker(kOnGpus), launcher(kOnGpus)}) EXPECT_EQ(refusal(pod), "");
  Settings slices = kSettings;
  slices.gpu_resource = "nvidia.com/mig-1g.10gb";
  EXPECT_EQ(filter_of(*sample_job(kOnGpus).job, slices.gpu_resource).refusal(kept), "") << "of MIG, too";
  EXPECT_EQ(refusal(parse_json(worker_pod(sample_job(kOnGpus), slices, 1, {2}, 7))), "");
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
  const json pod = parse_json(worker_pod(sample_job(kOnGpus), settings, 1, {2, 3}, 7));
  EXPECT_EQ(engine(pod).at("resources").at("limits").at("example.com/card"), 2);
  Resources server = gang_of(*sample_job(kOnGpus).job, {}, "example.com/card").server;
  server.add("memory", double(2 * settings.cuda_shared_memory));
  EXPECT_EQ(requests_of(pod.at("spec")), server);
}

TEST(Gpus, HaveSharedMemoryForNccl) {
  Settings settings = kSettings;
  settings.cuda_shared_memory = 3 << 20;
  const json pod = parse_json(worker_pod(sample_job(kOnGpus), settings, 1, {2, 3}, 7));
  EXPECT_EQ(mounts(pod).at("/dev/shm").at("emptyDir").at("sizeLimit"), std::to_string(6 << 20));
  EXPECT_GT(kSettings.cuda_shared_memory, kSettings.shared_memory);
}

/// NCCL's variables of a worker with so many of the job's four ranks.
json nccl_of(const Changes& changes, std::vector<Rank> ranks, const Settings& settings) {
  json variables = json::object();
  const json pod = parse_json(worker_pod(sample_job(changes), settings, 1, ranks, 7));
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
  const json debug = parse_json(
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
