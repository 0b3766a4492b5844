// The meaning of a cluster's objects for placement, counted by hand from the scheduler's documented rules.
#include "operator/plan/snapshot.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Resources amounts(Resources::Map map) {
  return Resources(std::move(map));
}

json asks(const char* cpu, const char* memory) {
  return {{"resources", {{"requests", {{"cpu", cpu}, {"memory", memory}}}}}};
}

json sidecar(const char* cpu, const char* memory) {
  json container = asks(cpu, memory);
  container["restartPolicy"] = "Always";
  return container;
}

TEST(Requests, ContainersAddUp) {
  const json spec = {{"containers", {asks("500m", "1Gi"), asks("250m", "512Mi")}}};
  EXPECT_EQ(requests_of(spec), amounts({{"cpu", 750}, {"memory", 1536LL << 20}, {"pods", 1}}));
}

TEST(Requests, AnInitContainerCountsWhereItIsLargerThanAllThatRunLater) {
  const json spec = {{"containers", {asks("1", "1Gi")}},
                     {"initContainers", {asks("3", "512Mi"), asks("2", "1Mi")}}};
  EXPECT_EQ(requests_of(spec), amounts({{"cpu", 3000}, {"memory", 1LL << 30}, {"pods", 1}}));
}

TEST(Requests, SidecarsRunBesideContainersAndLaterInitContainers) {
  const json spec = {{"containers", {asks("1", "1Gi")}},
                     {"initContainers", {sidecar("1", "1Gi"), asks("2", "1Gi"), sidecar("500m", "1Gi")}}};
  // Running: 1 + 1 + 0.5 cores. While the init container runs: 2 + the first sidecar's 1.
  EXPECT_EQ(requests_of(spec), amounts({{"cpu", 3000}, {"memory", 3LL << 30}, {"pods", 1}}));
}

TEST(Requests, APodThatIsResizedTakesTheLargerOfWhatItHasAndAsksFor) {
  json spec = {{"containers", {asks("1", "4Gi")}}, {"initContainers", {sidecar("500m", "1Gi")}}};
  spec["containers"][0]["name"] = "web";
  spec["initContainers"][0]["name"] = "proxy";
  json status = parse_json(R"({
      "containerStatuses": [{"name": "web", "allocatedResources": {"cpu": "3", "memory": "2Gi"},
                             "resources": {"requests": {"cpu": "2", "memory": "3Gi"}}}],
      "initContainerStatuses": [{"name": "proxy", "allocatedResources": {"cpu": "1", "memory": "1Gi"}}]})");
  EXPECT_EQ(requests_of(spec, status), amounts({{"cpu", 4000}, {"memory", 5LL << 30}, {"pods", 1}}));
  status["conditions"] =
      json::array({{{"type", "PodResizePending"}, {"status", "True"}, {"reason", "Infeasible"}}});
  EXPECT_EQ(requests_of(spec, status), amounts({{"cpu", 4000}, {"memory", 4LL << 30}, {"pods", 1}}))
      << "its node can never give it more memory than it has";
}

TEST(Requests, APodsOwnAmountsStandInPlaceAndOverheadIsOnTop) {
  json spec = {{"containers", {asks("1", "1Gi")}}, {"overhead", {{"cpu", "100m"}}}};
  spec["resources"]["requests"]["cpu"] = "2";
  EXPECT_EQ(requests_of(spec), amounts({{"cpu", 2100}, {"memory", 1LL << 30}, {"pods", 1}}));
}

TEST(Requests, AreRoundedUpInThousandthsAndWholeUnits) {
  json spec = {{"containers", {asks("0.29", "100m")}}};
  spec["containers"][0]["resources"]["requests"]["nvidia.com/gpu"] = 2;
  EXPECT_EQ(requests_of(spec), amounts({{"cpu", 290}, {"memory", 1}, {"nvidia.com/gpu", 2}, {"pods", 1}}));
  spec["containers"][0]["resources"]["requests"]["cpu"] = "0.0001";
  EXPECT_EQ(requests_of(spec).of("cpu"), 1);
}

TEST(Resources, TimesIsTheScarcest) {
  const Resources node = amounts({{"cpu", 8000}, {"memory", 100}, {"pods", 3}});
  EXPECT_EQ(node.times(amounts({{"cpu", 2000}, {"memory", 10}})), 4);
  EXPECT_EQ(node.times(amounts({{"cpu", 1000}, {"pods", 1}})), 3);
  EXPECT_EQ(node.times(amounts({{"nvidia.com/gpu", 1}})), 0);
  EXPECT_EQ(amounts({{"cpu", -5}}).times(amounts({{"cpu", 1}})), 0);
}

const char kCluster[] = R"(
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Node
  metadata: {name: n1, labels: {kubernetes.io/hostname: n1, rack: r1}}
  spec: {unschedulable: true, taints: [{key: dedicated, value: ml, effect: NoSchedule}]}
  status:
    allocatable: {cpu: "4", memory: 16Gi, pods: "110"}
    conditions: [{type: MemoryPressure, status: "False"}, {type: Ready, status: "True"}]
- kind: Pod
  metadata: {name: a, namespace: x, ownerReferences: [{kind: DaemonSet, name: d}]}
  spec: {nodeName: n1, containers: [{resources: {requests: {cpu: 100m}}}]}
  status: {phase: Running}
- kind: Pod
  metadata: {name: b, namespace: x, labels: {atoll.dev/job: train}, annotations: {atoll.dev/pinned-to: n1}}
  spec: {containers: [{}]}
  status: {phase: Pending}
- kind: Pod
  metadata: {name: c, namespace: x}
  spec: {nodeName: n1, containers: [{}]}
  status: {phase: Succeeded}
- kind: ConfigMap
  metadata: {name: passed-over}
)";

TEST(ReadSnapshot, OfYaml) {
  const Snapshot s = read_snapshot(kCluster, "nodes.yaml");
  ASSERT_EQ(s.nodes.size(), 1u);
  EXPECT_EQ(s.nodes[0].labels.at("rack"), "r1");
  EXPECT_TRUE(s.nodes[0].cordoned && s.nodes[0].ready);
  EXPECT_EQ(s.nodes[0].taints.at(0).key, "dedicated");
  EXPECT_EQ(s.nodes[0].allocatable, amounts({{"cpu", 4000}, {"memory", 16LL << 30}, {"pods", 110}}));
  ASSERT_EQ(s.pods.size(), 3u);
  EXPECT_EQ(s.pods[0].name, "x/a");
  EXPECT_TRUE(s.pods[0].of_daemon_set);
  EXPECT_EQ(s.pods[1].where(), "n1") << "pinned by us, and not bound yet";
  EXPECT_EQ(s.pods[1].job, "x/train");
  EXPECT_TRUE(s.pods[2].finished);
}

TEST(PodState, IsPinnedByTheOperatorAlone) {
  const json rule = {{"key", "metadata.name"}, {"operator", "In"}, {"values", {"n1"}}};
  const json terms = json::array({{{"matchFields", {rule}}}});
  json pod = {{"metadata", {{"labels", {{"atoll.dev/job", "train"}}}}}};
  pod["spec"]["nodeSelector"] = {{"kubernetes.io/hostname", "n1"}};
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] = {
      {"nodeSelectorTerms", terms}};
  EXPECT_EQ(pod_state(pod).where(), "") << "its template has a choice of one, and it has no place yet";
  pod["metadata"]["annotations"] = {{"atoll.dev/pinned-to", "n1"}};
  EXPECT_EQ(pod_state(pod).where(), "n1");
}

TEST(ReadSnapshot, OfJson) {
  const json node = {{"kind", "Node"}, {"metadata", {{"name", "n1"}}}};
  const Snapshot s = read_snapshot(json({{"kind", "List"}, {"items", {node}}}).dump(), "nodes.json");
  ASSERT_EQ(s.nodes.size(), 1u);
  EXPECT_FALSE(s.nodes[0].ready) << "nothing says that it is";
}

TEST(ReadSnapshot, SaysWhatIsWrong) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read_snapshot(text, "nodes.yaml");
    } catch (const Error& error) {
      return error.what();
    }
    return "no Error";
  };
  EXPECT_THAT(message(""), HasSubstr("nodes.yaml: holds no nodes; create it with"));
  EXPECT_THAT(message("{\"kind\": "), HasSubstr("nodes.yaml: is neither JSON nor YAML"));
  EXPECT_THAT(message("a: [1"), HasSubstr("not valid YAML"));
  EXPECT_THAT(message("{\"kind\":\"Node\",\"status\":{\"allocatable\":{\"cpu\":\"four\"}}}"),
              HasSubstr("'four' is not a quantity"));
}

}  // namespace
}  // namespace atl::ctl
