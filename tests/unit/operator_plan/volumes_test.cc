// Volumes that only some nodes can reach: pods that mount them are placed there, other pods anywhere.
#include "operator/plan/volumes.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "job/load.h"
#include "operator/plan/demand_class.h"
#include "operator/plan/gang.h"
#include "operator_plan/clusters.h"
#include "operator_plan/exhaustive.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two zones of two nodes, each with room for a server of two ranks and the launcher.
Snapshot cluster() {
  Snapshot snapshot;
  for (int n = 1; n <= 4; ++n) {
    NodeState node;
    node.name = "n" + std::to_string(n);
    node.labels = {{"kubernetes.io/hostname", node.name},
                   {"topology.kubernetes.io/zone", n <= 2 ? "a" : "b"}};
    node.ready = true;
    node.allocatable = Resources({{"cpu", 8200}, {"memory", 64LL << 30}, {"pods", 110}});
    snapshot.nodes.push_back(node);
  }
  return snapshot;
}

Job job(int ranks, const std::vector<Override>& changes = {}) {
  std::vector<Override> overrides = {"placement.ranks=" + std::to_string(ranks),
                                     "dataset.volume={persistentVolumeClaim: {claimName: data}}",
                                     "output.volume={persistentVolumeClaim: {claimName: results}}"};
  overrides.insert(overrides.end(), changes.begin(), changes.end());
  return parse_job(R"(apiVersion: atoll.dev/v1alpha1
kind: GNNJob
metadata: {name: j, namespace: team}
spec:
  dataset: {name: d}
  model: {kind: gcn}
  resources: {cpu: 4}
  placement: {ranksPerServer: 2, topologyLevels: [topology.kubernetes.io/zone, kubernetes.io/hostname]}
)",
                   "j.yaml", overrides)
      .job;
}

ClaimPlace in_zone(const std::string& zone) {
  return {{{{"topology.kubernetes.io/zone", "In", {zone}, false}}}, ""};
}
ClaimPlace on_node(const std::string& node) {
  return {{{{"kubernetes.io/hostname", "In", {node}, false}}}, ""};
}

Gang gang(const Job& of, const std::map<std::string, ClaimPlace>& places) {
  Gang all = gang_of(of, {});
  for (GangVolume& volume : all.volumes)
    if (const auto found = places.find(volume.claim); found != places.end()) volume.place = found->second;
  return all;
}

TEST(Volumes, OfAJobAreThoseOfItsDataItsOutputAndItsTemplate) {
  const std::string scratch =
      "template={spec: {volumes: [{name: x, persistentVolumeClaim: {claimName: extra}}]}}";
  const auto all = volumes_of(job(4, {scratch}));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].claim, "data");
  EXPECT_EQ(all[0].mounters, Mounters::kServers);
  EXPECT_EQ(all[1].claim, "results");
  EXPECT_EQ(all[1].mounters, Mounters::kFirstServer);
  EXPECT_EQ(all[2].claim, "extra");
  EXPECT_EQ(all[2].mounters, Mounters::kAll);
  const auto elsewhere =
      volumes_of(job(4, {"dataset.prepared={persistentVolumeClaim: {claimName: graphs}}"}));
  ASSERT_EQ(elsewhere.size(), 3u);
  EXPECT_EQ(elsewhere[1].claim, "graphs");
  EXPECT_EQ(elsewhere[1].mounters, Mounters::kServers);
  EXPECT_EQ(volumes_of(job(4, {"launcher=mpijob"}))[1].mounters, Mounters::kServers)
      << "one template for all";
  EXPECT_TRUE(volumes_of(job(4, {"dataset.volume={emptyDir: {}}", "output.volume={emptyDir: {}}"})).empty());
}

TEST(Volumes, ServersStandWhereTheDataIs) {
  const GangPlan plan = plan_gang(gang(job(4), {{"data", in_zone("b")}}), cluster());
  ASSERT_TRUE(plan.fits);
  EXPECT_THAT(plan.nodes, ElementsAre("n3", "n4"));
}

TEST(Volumes, AGangThatDoesNotFitThereSaysSo) {
  const GangPlan plan = plan_gang(gang(job(6), {{"data", in_zone("a")}}), cluster());
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.reasons.at(0), HasSubstr("the cluster has room for 2"));
  EXPECT_THAT(plan.reasons, Contains("volume claim data is bound to zone a: no server on n3, n4"));
}

TEST(Volumes, OnlyServer0FollowsTheOutput) {
  for (const char* node : {"n1", "n2", "n3", "n4"}) {
    const GangPlan plan = plan_gang(gang(job(4), {{"results", on_node(node)}}), cluster());
    ASSERT_TRUE(plan.fits);
    EXPECT_EQ(plan.nodes.at(0), node);
    const std::string zone = node < std::string("n3") ? "a" : "b";
    EXPECT_THAT(plan.nodes, Each(zone == "a" ? AnyOf("n1", "n2") : AnyOf("n3", "n4")))
        << "the other beside it";
    EXPECT_LE(plan.in_order_cost, 2 * 10) << "what may not be is no cost";
  }
}

TEST(Volumes, OutputOnAFullNodeIsNamed) {
  Snapshot on = cluster();
  PodState other;
  other.node = "n3";
  other.requests = Resources({{"cpu", 8000}});
  on.pods.push_back(other);
  const GangPlan plan = plan_gang(gang(job(4), {{"results", on_node("n3")}}), on);
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.reasons.at(0), HasSubstr("not for server 0 where its volume is"));
  EXPECT_THAT(plan.reasons, Contains("volume claim results is bound to node n3: server 0 not on n1, n2, n4"));
}

TEST(Volumes, TheLauncherMayStandOutsideUnlessTheTemplateMountsThem) {
  Snapshot on = cluster();
  for (NodeState& node : on.nodes)
    node.allocatable = Resources({{"cpu", 8000}, {"memory", 64LL << 30}, {"pods", 110}});
  const GangPlan plan = plan_gang(gang(job(4), {{"data", in_zone("a")}}), on);
  ASSERT_TRUE(plan.fits);
  EXPECT_THAT(plan.launcher, AnyOf("n3", "n4")) << "zone a is full";
  Gang all = gang(job(4), {{"data", in_zone("a")}});
  all.volumes[0].mounters = Mounters::kAll;
  EXPECT_FALSE(plan_gang(all, on).fits);
}

TEST(Volumes, WithoutTheFirstServerOutputBindsNobody) {
  Gang rest = gang(job(4), {{"results", on_node("n1")}});
  rest.servers = {{2, 3}};
  rest.traffic = Traffic::uniform(1, 1);
  Snapshot on = cluster();
  on.nodes.erase(on.nodes.begin());
  EXPECT_TRUE(plan_gang(rest, on).fits);
}

TEST(Volumes, WhatIsNotKnownStopsThePlanWithItsReason) {
  const GangPlan plan = plan_gang(gang(job(4), {{"data", {{}, "no answer"}}}), cluster());
  EXPECT_FALSE(plan.fits);
  EXPECT_THAT(plan.reasons, ElementsAre("no answer"));
}

TEST(Volumes, RoomIsKeptWhereServer0CanStand) {
  Snapshot on = cluster();
  PodState other;
  other.job = "team/other";
  other.requests = Resources({{"cpu", 8000}});
  for (const char* node : {"n1", "n3", "n4"}) {
    other.node = node;
    on.pods.push_back(other);
  }
  for (const char* node : {"n3", "n4"}) {
    const auto kept = reserve(gang(job(4), {{"results", on_node(node)}}), on);
    ASSERT_TRUE(kept);
    EXPECT_THAT(kept->nodes, Contains(node));
  }
}

TEST(Volumes, AChoosyServerIsWithinFivePercentInNinetyNineOfAHundred) {
  std::mt19937 random(11);
  int answers = 0, close = 0;
  for (int c = 0; c < 500; ++c) {
    const int servers = 5 + int(random() % 3);
    auto sites = fragmented(even_cluster(2, 2, 3, 2), 0.35, servers + 1, random);
    for (Site& site : sites) site.takes_first = random() % 4 == 0;
    const Topology topology(sites, kWeights);
    const Traffic traffic(servers, c % 2 ? planar_cut(servers, random) : blocks(servers, 2, random));
    const auto answer = place(topology, traffic);
    const double best = exhaustive(topology, traffic);
    ASSERT_EQ(answer.has_value(), best < 1e300) << "case " << c;
    if (!answer) continue;
    ++answers;
    close += answer->cost <= best * 1.05 + 1e-9;
    const auto first = std::ranges::find(topology.sites(), answer->nodes[0], &Site::node);
    EXPECT_TRUE(first->takes_first) << "case " << c;
  }
  EXPECT_GE(close, 0.99 * answers) << "of " << answers;
}

TEST(Volumes, AreReadAsTheApiHasThem) {
  const json claim = parse_json(R"({"spec": {"volumeName": "pv-1", "storageClassName": "fast"}})");
  EXPECT_EQ(claim_state(claim).volume, "pv-1");
  EXPECT_EQ(claim_state(claim).storage_class, "fast");
  const json volume = parse_json(R"({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a", "b"]}]},
    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n7"]}]}]}}}})");
  const GangVolume bound{"data", Mounters::kServers, {nodes_of_volume(volume), ""}};
  EXPECT_EQ(text_of(bound), "volume claim data is bound to zone a or b or node n7");
  const json late = parse_json(R"({"volumeBindingMode": "WaitForFirstConsumer", "allowedTopologies": [
    {"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": ["a"]}]}]})");
  EXPECT_EQ(nodes_of_class(late).size(), 1u);
  json at_once = late;
  at_once["volumeBindingMode"] = "Immediate";
  EXPECT_TRUE(nodes_of_class(at_once).empty()) << "its volume says where it is, once it is bound";
}

TEST(Volumes, OfAFileThatKubectlWroteAreJoinedByTheirNames) {
  const Snapshot snapshot = read_snapshot(R"(
kind: List
items:
- {kind: Node, metadata: {name: n1}}
- kind: PersistentVolumeClaim
  metadata: {name: data, namespace: team}
  spec: {volumeName: pv-1, storageClassName: zonal}
- {kind: PersistentVolumeClaim, metadata: {name: new, namespace: team}, spec: {storageClassName: zonal}}
- {kind: PersistentVolumeClaim, metadata: {name: lost, namespace: team}, spec: {volumeName: pv-2}}
- kind: PersistentVolume
  metadata: {name: pv-1}
  spec:
    nodeAffinity:
      required:
        nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [n1]}]}]
- kind: StorageClass
  metadata: {name: zonal}
  volumeBindingMode: WaitForFirstConsumer
  allowedTopologies: [{matchLabelExpressions: [{key: topology.kubernetes.io/zone, values: [b]}]}]
)",
                                          "nodes.yaml");
  const auto words = [&](const char* claim) {
    return text_of({"it", Mounters::kServers, snapshot.storage.place_of(claim)});
  };
  EXPECT_EQ(words("team/data"), "volume claim it is bound to node n1");
  EXPECT_EQ(words("team/new"), "volume claim it is bound to zone b");
  for (const char* anywhere : {"team/lost", "team/absent", "other/data"})
    EXPECT_TRUE(snapshot.storage.place_of(anywhere).terms.empty()) << anywhere;
}

}  // namespace
}  // namespace atl::ctl
