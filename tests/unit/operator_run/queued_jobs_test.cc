// Jobs in a queue before the API server: Kueue's words on Workloads and flavors arrive, and so does our
// answer.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "operator_controller/fake_kueue.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

struct Queues : testing::Test {
  Stage stage;
  FakeKueue kueue{stage.cluster};

  Queues() {
    stage.kueue = true;
    stage.start();
    stage.cluster.flavors["on-demand"] = {{"metadata", {{"name", "on-demand"}, {"uid", "f"}}},
                                          {"spec", {{"nodeLabels", {{"rack", "r2"}}}}}};
  }
  void submit(const json& labels = json::object(), Changes changes = {}, const std::string& name = "cora") {
    stage.submit(name, changes);
    stage.job(name)["metadata"]["labels"] = labels;
    stage.job(name)["metadata"]["labels"][kQueueLabel] = "team-queue";
  }
  /// The queue has this flavor alone.
  void lead_queue_to(const std::string& flavor) {
    stage.api.more["localqueues/team-queue"] = {{"metadata", {{"name", "team-queue"}, {"uid", "q"}}},
                                                {"spec", {{"clusterQueue", "team"}}}};
    json group;
    group["flavors"] = json::array({{{"name", flavor}}});
    stage.api.more["clusterqueues/team"] = {{"metadata", {{"name", "team"}, {"uid", "t"}}},
                                            {"spec", {{"resourceGroups", json::array({group})}}}};
  }
  std::string suspended() {
    const Status status = stage.status();
    const Condition* found = find_condition(status.conditions, kSuspended);
    return found ? found->reason + ": " + found->message : "";
  }
};

TEST_F(Queues, AdmittedAJobStandsOnTheNodesOfItsFlavorAndIsFinished) {
  submit();
  stage.run(200, [&] { return stage.state() == "Running"; });
  for (const ServerPlace& server : stage.status().servers)
    EXPECT_THAT(server.node, testing::AnyOf("n3", "n4"));
  stage.run(600, [&] { return stage.has_ended(); });
  stage.run(5);
  EXPECT_TRUE(holds(kueue.read().conditions, kFinished));
  EXPECT_EQ(stage.count("POST workloads gnnjob-cora"), 1);
}

TEST_F(Queues, ReadsAWorkloadAnewThatHasChangedMeanwhile) {
  submit();
  stage.run(200, [&] { return stage.state() == "Running"; });
  stage.run(2);
  stage.api.late = "workloads";
  kueue.workload()["metadata"]["labels"]["example.com/team"] = "graphs";
  stage.run(600, [&] { return stage.has_ended(); });
  stage.run(5);
  EXPECT_THAT(stage.api.reads, Contains("workloads gnnjob-cora"));
  EXPECT_TRUE(holds(kueue.read().conditions, kFinished));
}

TEST_F(Queues, AreOrderedByTheClassThatTheJobNames) {
  stage.api.more["workloadpriorityclasses/urgent"] = {{"metadata", {{"name", "urgent"}, {"uid", "c"}}},
                                                      {"value", 7}};
  stage.api.more["priorityclasses/usual"] = {
      {"metadata", {{"name", "usual"}, {"uid", "d"}}}, {"value", 3}, {"globalDefault", true}};
  submit({{kQueuePriorityLabel, "urgent"}});
  stage.run(5);
  EXPECT_EQ(kueue.workload().at("spec").at("priority"), 7);
  EXPECT_EQ(kueue.workload().at("spec").at("priorityClassRef").at("kind"), "WorkloadPriorityClass");
  EXPECT_EQ(kueue.workload().at("spec").at("priorityClassRef").at("name"), "urgent");
}

TEST_F(Queues, AreOrderedByThePodsClassElse) {
  stage.api.more["priorityclasses/usual"] = {
      {"metadata", {{"name", "usual"}, {"uid", "d"}}}, {"value", 3}, {"globalDefault", true}};
  submit();
  stage.run(5);
  EXPECT_EQ(kueue.workload().at("spec").at("priority"), 3) << "the cluster's default";
}

TEST_F(Queues, AJobAsksForATopologyWhereAFlavorNamesOneAndRunsOnTheNodesThatItGets) {
  stage.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  lead_queue_to("on-demand");
  auto& labels = stage.cluster.nodes["n5"].labels;
  labels["kubernetes.io/hostname"] = "n5", labels["rack"] = "r2";
  kueue.assigns = {{kWorkerPods, {{"n3", 1}, {"n4", 1}}}, {kLauncherPods, {{"n3", 1}}}};
  submit(json::object(), {{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                          {"/spec/placement/within", "rack"}});
  stage.run(200, [&] { return stage.state() == "Running"; });
  const json& sets = kueue.workload().at("spec").at("podSets");
  EXPECT_EQ(sets.at(0).at("topologyRequest"), json({{"required", "rack"}}));
  for (const ServerPlace& server : stage.status().servers)
    EXPECT_THAT(server.node, testing::AnyOf("n3", "n4"));
  stage.cluster.nodes.at("n4").is_dead = true;
  stage.cluster.nodes.at("n4").since = stage.cluster.now;
  stage.run(60, [&] { return stage.reason(kPlaced) == "NoRoom"; });
  EXPECT_EQ(stage.reason(kPlaced), "NoRoom") << "until there is another place";
  kueue.spares = {"n5"};
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
  EXPECT_EQ(stage.status().failures, 0);
}

/// The first flavor with a topology in a cluster is somebody else's.
TEST_F(Queues, AJobInAQueueWithoutTopologyRunsWhereOtherQueuesHaveOne) {
  stage.cluster.flavors["placed"] = {{"metadata", {{"name", "placed"}, {"uid", "p"}}},
                                     {"spec", {{"topologyName", "racks"}}}};
  lead_queue_to("on-demand");
  submit(json::object(), {{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                          {"/spec/placement/within", "rack"}});
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
  EXPECT_FALSE(kueue.workload().at("spec").at("podSets").at(0).contains("topologyRequest"));
}

/// Older rules of the operator's account don't let it read queues.
TEST_F(Queues, AQueueThatMayNotBeReadCountsAsOneWithoutTopology) {
  stage.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  lead_queue_to("on-demand");
  stage.api.refuse = [](const std::string&,
                        const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (target.plural != "clusterqueues") return {};
    return FakeApi::Refusal{403, "Forbidden", "cannot get resource clusterqueues"};
  };
  submit(json::object(), {{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                          {"/spec/placement/within", "rack"}});
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
  EXPECT_FALSE(kueue.workload().at("spec").at("podSets").at(0).contains("topologyRequest"));
}

TEST_F(Queues, AQueueThatTheServerDoesntShowNowIsAskedForAgain) {
  stage.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  lead_queue_to("on-demand");
  kueue.cores = 0;
  bool fails = true;
  stage.api.refuse = [&](const std::string&,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (!fails || target.plural != "localqueues") return {};
    return FakeApi::Refusal{500, "InternalError", "etcd is behind"};
  };
  submit(json::object(), {{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                          {"/spec/placement/within", "rack"}});
  stage.run(30);
  EXPECT_THAT(suspended(), HasSubstr("which flavors the queue team-queue has"));
  fails = false;
  stage.run(60);
  EXPECT_EQ(kueue.workload().at("spec").at("podSets").at(0).at("topologyRequest"),
            json({{"required", "rack"}}));
}

/// However many there are, and however often something of them changes.
TEST_F(Queues, JobsThatWaitAskForTheirQueuesFlavorsOnceInFiveMinutes) {
  stage.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  stage.cluster.flavors["plain"] = {{"metadata", {{"name", "plain"}, {"uid", "p"}}},
                                    {"spec", json::object()}};
  lead_queue_to("on-demand");
  kueue.cores = 0;
  const std::vector<std::string> jobs = {"cora", "citeseer", "pubmed"};
  for (const std::string& job : jobs)
    submit(json::object(),
           {{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
            {"/spec/placement/within", "rack"}},
           job);
  const auto asked = [&](const std::string& what) {
    return std::count(stage.api.reads.begin(), stage.api.reads.end(), what);
  };
  const auto has_request = [&](const std::string& job) {
    return kueue.workload(job).at("spec").at("podSets").at(0).contains("topologyRequest");
  };
  stage.run(290, [&] {
    for (const std::string& job : jobs) stage.controller->job_changed("team/" + job, "");
    return false;
  });
  EXPECT_EQ(asked("localqueues team-queue"), 1);
  EXPECT_EQ(asked("clusterqueues team"), 1);
  for (const std::string& job : jobs) EXPECT_TRUE(has_request(job)) << job;
  lead_queue_to("plain");
  stage.run(30);
  EXPECT_EQ(asked("clusterqueues team"), 2);
  for (const std::string& job : jobs) EXPECT_FALSE(has_request(job)) << job << " has heard of the change";
}

/// Writers are few, and slow when the API server is.
TEST_F(Queues, AJobThatWaitsIsLookedAtWithoutAWriterWhereNothingIsToBeAsked) {
  stage.cluster.flavors["on-demand"]["spec"]["topologyName"] = "racks";
  lead_queue_to("on-demand");
  kueue.cores = 0;
  submit(json::object(), {{"/spec/placement/topologyLevels", json::array({"rack", kHostnameLabel})},
                          {"/spec/placement/within", "rack"}});
  stage.run(30);
  ASSERT_THAT(suspended(), HasSubstr("Queued"));
  const auto look_after_news = [this] {
    stage.controller->job_changed("team/cora", "");
    const std::jthread looks([this](const std::stop_token& stop) { stage.controller->look(stop); });
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (stage.controller->remembered().at("queued") > 0 && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  look_after_news();
  EXPECT_EQ(stage.controller->remembered().at("errands"), 0U);
  stage.cluster.now += QueueFlavors::kRemembered;
  look_after_news();
  EXPECT_GT(stage.controller->remembered().at("errands"), 0U) << "the queue is to be asked again";
}

TEST_F(Queues, AClassThatIsMissingHoldsAJobUntilItIsThere) {
  submit({{kQueuePriorityLabel, "urgent"}});
  stage.run(5);
  EXPECT_THAT(suspended(), HasSubstr("'urgent'"));
  stage.api.more["workloadpriorityclasses/urgent"] = {{"metadata", {{"name", "urgent"}, {"uid", "c"}}},
                                                      {"value", 7}};
  stage.run(200, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(stage.state(), "Running");
}

TEST_F(Queues, WithoutKueueInTheClusterAJobWaitsAndSaysSo) {
  bool is_installed = false;
  stage.api.refuse = [&](const std::string&,
                         const FakeApi::Target& target) -> std::optional<FakeApi::Refusal> {
    if (is_installed || target.plural != "workloads") return {};
    return FakeApi::Refusal{404, "NotFound", "the server could not find the requested resource"};
  };
  submit();
  stage.run(120);
  EXPECT_THAT(suspended(), HasSubstr("QueueRefused: Workload gnnjob-cora is refused"));
  EXPECT_THAT(stage.cluster.pods, IsEmpty());
  EXPECT_LT(stage.count("POST workloads gnnjob-cora"), 30) << "it is tried less and less often";
  is_installed = true;
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

TEST_F(Queues, AJobWhoseWorkloadsNameIsTakenSaysSoUntilItIsFree) {
  kueue.is_down = true;
  const std::pair place(Kind::kWorkload, std::string("gnnjob-cora"));
  stage.cluster.create(Kind::kWorkload, place.second,
                       {{"metadata", {{"name", place.second}, {"namespace", "default"}, {"uid", "other"}}}});
  submit();
  stage.run(60, [&] { return suspended().starts_with("NameTaken"); });
  EXPECT_THAT(suspended(), HasSubstr("Workload gnnjob-cora has the name that this job's Workload needs"));
  const int writes = stage.count("PATCH gnnjobs cora");
  stage.run(200);
  EXPECT_THAT(suspended(), HasSubstr("NameTaken"));
  EXPECT_EQ(stage.count("PATCH gnnjobs cora"), writes) << "nothing new is nothing to write";
  stage.cluster.objects.erase(place);
  kueue.is_down = false;
  stage.run(600, [&] { return stage.has_ended(); });
  EXPECT_EQ(stage.state(), "Succeeded");
}

TEST_F(Queues, AreListedOnlyWhereKueueIsToBeExpected) {
  EXPECT_TRUE(stage.controller->caches().queues());
  stage.kueue = false;
  stage.start();
  EXPECT_FALSE(stage.controller->caches().queues());
  for (const Feed& feed : stage.controller->caches().feeds())
    EXPECT_THAT(feed.path, testing::Not(HasSubstr("kueue")));
}

}  // namespace
}  // namespace atl::ctl
