// A whole plan, from a job and a cluster to nodes or to words.
#include "operator/plan/gang.h"

#include <gmock/gmock.h>

#include "job/load.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kGi = 1LL << 30;

Resources amounts(std::int64_t cores, std::int64_t gibibytes, std::int64_t pods) {
  return Resources({{"cpu", cores * 1000}, {"memory", gibibytes * kGi}, {"pods", pods}});
}

/// Two blocks of three nodes of 8 cores (and a little for the launcher): n1 n2 n3 in b1, n4 n5 n6 in b2.
Snapshot cluster() {
  Snapshot snapshot;
  for (int n = 1; n <= 6; ++n) {
    NodeState node;
    node.name = "n" + std::to_string(n);
    node.labels = {{"kubernetes.io/hostname", node.name}, {"block", n <= 3 ? "b1" : "b2"}};
    node.ready = true;
    node.allocatable = Resources({{"cpu", 8200}, {"memory", 33 * kGi}, {"pods", 110}});
    snapshot.nodes.push_back(node);
  }
  return snapshot;
}

void occupy(Snapshot& snapshot, const std::string& node, std::int64_t cores = 8) {
  PodState pod;
  pod.name = "other/pod-on-" + node;
  pod.node = node;
  pod.requests = amounts(cores, 1, 1);
  snapshot.pods.push_back(pod);
}

Job job(const std::vector<std::string>& changes) {
  std::vector<Override> overrides = {"placement.topologyLevels=[block, kubernetes.io/hostname]",
                                     "resources.cpu=4", "resources.memory=16Gi",
                                     "placement.ranksPerServer=2"};
  overrides.insert(overrides.end(), changes.begin(), changes.end());
  return parse_job(
             "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: j, namespace: team}\nspec:\n"
             "  dataset: {name: d}\n  model: {kind: gcn}\n",
             "j.yaml", overrides)
      .job;
}

GangPlan plan(const Job& of, const Snapshot& on) {
  return plan_gang(gang_of(of, {}), on);
}

TEST(Gang, OnGpusStandsOnNodesThatAreKeptForThem) {
  Snapshot on = cluster();
  for (const int node : {1, 4}) {
    on.nodes[node].taints = {{"nvidia.com/gpu", "present", "NoSchedule"}};
    on.nodes[node].allocatable.add("nvidia.com/gpu", 2.0);
  }
  EXPECT_THAT(plan(job({"placement.ranks=4", "resources={cpu: 4, nvidia.com/gpu: 1}"}), on).nodes,
              testing::UnorderedElementsAre("n2", "n5"));
  const GangPlan too_many = plan(job({"placement.ranks=6", "resources={cpu: 4, nvidia.com/gpu: 1}"}), on);
  EXPECT_FALSE(too_many.fits);
  EXPECT_THAT(plan(job({"placement.ranks=4"}), on).nodes,
              testing::Each(testing::AnyOf("n1", "n3", "n4", "n6")));
}

TEST(Gang, ServersAreGroupsOfRanksWithTheirResources) {
  const Gang gang = gang_of(job({"placement.ranks=4"}), {});
  EXPECT_EQ(gang.job, "team/j");
  EXPECT_THAT(gang.servers, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_EQ(gang.server, amounts(8, 32, 1));
  EXPECT_THAT(gang.weights, ElementsAre(10, 1));
  EXPECT_TRUE(gang.assumed);
}

/// With placement.ranksPerServer a server may have several stages; without it each has one.
TEST(Gang, ServersSayWhichStagesTheyHold) {
  const std::vector<std::string> pipeline{"placement.ranks=4", "strategy.kind=gnnpipe", "model.layers=4"};
  const auto with = [&](const std::string& more) {
    std::vector<std::string> all = pipeline;
    all.push_back(more);
    return gang_of(job(all), {});
  };
  EXPECT_THAT(with("strategy.gnnpipe={stages: 4}").holds, ElementsAre("stages 0–1", "stages 2–3"));
  const Gang hybrid = with("strategy.gnnpipe={stages: 2}");
  EXPECT_THAT(hybrid.holds, ElementsAre("stage 0", "stage 1"));
  const GangPlan answer = plan_gang(hybrid, cluster());
  ASSERT_TRUE(answer.fits);
  EXPECT_THAT(to_text(answer, hybrid, cluster()), HasSubstr("1       2–3    stage 1  "));
  EXPECT_THAT(to_json(answer, hybrid), HasSubstr(R"("holds":"stage 1")"));
  EXPECT_THAT(gang_of(job({"placement.ranks=4", "strategy.kind=granndis"}), {}).holds,
              ElementsAre("server 0 and its copies", "server 1 and its copies"));
  EXPECT_THAT(gang_of(job({"placement.ranks=4"}), {}).holds, ElementsAre());
}

TEST(Gang, FlowsOfRanksAreThoseOfTheirServers) {
  const Gang gang =
      gang_of(job({"placement.ranks=4"}), std::vector<PairBytes>{{0, 2, 5}, {3, 1, 7}, {0, 1, 100}});
  ASSERT_EQ(gang.traffic.peers(0).size(), 1u);
  EXPECT_EQ(gang.traffic.peers(0)[0].bytes, 12);
  EXPECT_FALSE(gang.assumed);
}

TEST(Gang, MovesWholeToTheBlockThatHasRoom) {
  Snapshot on = cluster();
  occupy(on, "n2");
  const GangPlan answer = plan(job({"placement.ranks=6"}), on);
  ASSERT_TRUE(answer.fits);
  EXPECT_THAT(answer.nodes, ElementsAre("n4", "n5", "n6"));
  EXPECT_EQ(answer.launcher, "n4");
  EXPECT_EQ(answer.cost, answer.best_possible);
}

TEST(Gang, WithoutRoomSaysWhatIsNeededWhatThereIsAndWhatWouldHelp) {
  Snapshot on = cluster();
  for (const char* node : {"n1", "n4", "n5"}) occupy(on, node);
  on.nodes[5].cordoned = true;
  const GangPlan answer = plan(job({"placement.ranks=6", "placement.within=block"}), on);
  EXPECT_FALSE(answer.fits);
  EXPECT_TRUE(answer.nodes.empty());
  EXPECT_THAT(
      answer.reasons,
      ElementsAre(
          "needs 3 servers of 2 ranks (8 cpu, 32.0 GiB memory each) inside one block; b1 has room for 2, "
          "b2 has room for 0; freeing n1 would do",
          "not considered: n6 is cordoned"));
}

TEST(Gang, TooLargeForTheClusterSaysSo) {
  const GangPlan answer = plan(job({"placement.ranks=16"}), cluster());
  EXPECT_THAT(answer.reasons.at(0),
              HasSubstr("the cluster has room for 6; even an empty cluster has room for at most 6"));
}

TEST(Gang, TooLargeForOneNodeWhereOneMustHoldItSaysSo) {
  Snapshot on = cluster();
  occupy(on, "n2");
  const GangPlan answer = plan(job({"placement.ranks=4", "placement.within=kubernetes.io/hostname"}), on);
  EXPECT_FALSE(answer.fits);
  EXPECT_THAT(answer.reasons.at(0), HasSubstr("inside one node; b1/n1 has room for 1"));
}

TEST(Gang, CostsMoreWhereOthersStandAndNamesThem) {
  Snapshot on = cluster();
  occupy(on, "n3");
  occupy(on, "n5");
  const GangPlan answer = plan(job({"placement.ranks=6"}), on);
  ASSERT_TRUE(answer.fits);
  EXPECT_GT(answer.cost, answer.best_possible);
  EXPECT_THAT(answer.reasons.at(0), HasSubstr("n3 has room for 0 of 1"));
}

TEST(Gang, PodsPinnedByUsTakeRoomButNotThoseOfTheJobItself) {
  Snapshot on = cluster();
  PodState pinned;
  pinned.pinned = "n1";
  pinned.job = "team/other";
  pinned.requests = amounts(8, 1, 1);
  on.pods.push_back(pinned);
  EXPECT_THAT(plan(job({"placement.ranks=6"}), on).nodes, ElementsAre("n4", "n5", "n6"));
  on.pods[0].job = "team/j";
  EXPECT_THAT(plan(job({"placement.ranks=6"}), on).nodes, ElementsAre("n1", "n2", "n3"));
}

TEST(Gang, TheLauncherTakesAServersPlaceWhereNothingElseIsLeft) {
  Snapshot on = cluster();
  for (NodeState& node : on.nodes) node.allocatable = amounts(8, 32, 110);  // two ranks and not a core more
  const GangPlan five = plan(job({"placement.ranks=10"}), on);
  ASSERT_TRUE(five.fits);
  EXPECT_THAT(five.nodes, testing::Not(testing::Contains(five.launcher)));
  const GangPlan six = plan(job({"placement.ranks=12"}), on);
  EXPECT_FALSE(six.fits);
  EXPECT_THAT(six.reasons.at(0),
              HasSubstr("a launcher (0.1 cpu, 128 MiB memory); there is room only for the servers"));
}

TEST(Gang, ATolerationComparesNumbersAsTheSchedulerDoes) {
  Snapshot on = cluster();
  on.nodes[0].taints = {{"sla", "900", "NoSchedule"}};
  const auto nodes = [&](const std::string& comparison, const std::string& value) {
    return plan(job({"placement.ranks=6", "template={spec: {tolerations: [{key: sla, operator: " +
                                              comparison + ", value: '" + value + "'}]}}"}),
                on)
        .nodes;
  };
  EXPECT_THAT(nodes("Gt", "899"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(nodes("Gt", "900"), ElementsAre("n4", "n5", "n6"));
  EXPECT_THAT(nodes("Lt", "901"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(nodes("Lt", "900"), ElementsAre("n4", "n5", "n6"));
  EXPECT_THAT(nodes("Gt", "none"), ElementsAre("n4", "n5", "n6"));
}

TEST(Gang, TheTemplateChoosesNodes) {
  Snapshot on = cluster();
  on.nodes[0].taints = {{"dedicated", "ml", "NoSchedule"}};
  on.nodes[1].labels["disk"] = "ssd";
  const GangPlan tainted = plan(job({"placement.ranks=6"}), on);
  EXPECT_THAT(tainted.nodes, ElementsAre("n4", "n5", "n6"));
  const GangPlan tolerated = plan(
      job({"placement.ranks=6", "template={spec: {tolerations: [{key: dedicated, operator: Exists}]}}"}), on);
  EXPECT_THAT(tolerated.nodes, ElementsAre("n1", "n2", "n3"));
  const GangPlan chosen =
      plan(job({"placement.ranks=2", "template={spec: {nodeSelector: {disk: ssd}}}"}), on);
  EXPECT_THAT(chosen.nodes, ElementsAre("n2"));
  const GangPlan none = plan(job({"placement.ranks=2", "template={spec: {nodeSelector: {disk: nvme}}}"}), on);
  EXPECT_THAT(none.reasons.at(1), HasSubstr("has not disk=nvme"));
  const GangPlan removed =
      plan(job({"placement.ranks=6", "template={spec: {nodeSelector: {disk: null}}}"}), on);
  EXPECT_EQ(removed.nodes, tainted.nodes) << "its pods have no such selector";
}

}  // namespace
}  // namespace atl::ctl
