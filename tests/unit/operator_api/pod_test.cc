// Pods in the states that decisions depend on, as a cluster shows them, and the messages that containers
// leave.
#include "operator/api/pod.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "operator/api/messages.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;

TEST(Pod, GatedAndPinned) {
  const PodView pod = read_pod(R"({
    "metadata": {"name": "j-0-0", "namespace": "team", "uid": "p1", "labels": {"atoll.dev/job": "j"},
      "annotations": {"atoll.dev/pinned-to": "n1"},
      "ownerReferences": [{"uid": "other"}, {"uid": "u1", "controller": true}]},
    "spec": {"schedulingGates": [{"name": "atoll.dev/placement"}], "priority": 100,
      "containers": [{"name": "engine", "resources": {"requests": {"cpu": "2"}}}]},
    "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "False",
      "reason": "SchedulingGated"}]}})");
  EXPECT_THAT(pod.gates, ElementsAre("atoll.dev/placement"));
  EXPECT_EQ(pod.meta.owner_uid, "u1");
  EXPECT_EQ(pod.pinned, "n1");
  EXPECT_EQ(pod.priority, 100);
  EXPECT_EQ(pod.requests.of("cpu"), 2000);
  EXPECT_FALSE(pod.is_bound() || pod.ready || pod.has_ended() || pod.is_terminating());
  EXPECT_EQ(pod.unschedulable, "");
}

TEST(Pod, WhoseImageCantBePulled) {
  const PodView pod =
      read_pod(R"({"spec": {"nodeName": "n2"}, "status": {"phase": "Pending", "podIP": "10.1.0.5",
    "containerStatuses": [{"name": "engine", "state": {"waiting": {"reason": "ImagePullBackOff",
      "message": "Back-off pulling image"}}}]}})");
  ASSERT_TRUE(pod.container("engine"));
  EXPECT_EQ(pod.container("engine")->waiting, "ImagePullBackOff");
  EXPECT_EQ(pod.ip, "10.1.0.5");
  EXPECT_EQ(pod.container("other"), nullptr);
}

TEST(Pod, KilledForMemoryWithALastWord) {
  const PodView pod = read_pod(R"({"spec": {"nodeName": "n2"}, "status": {"phase": "Failed",
    "containerStatuses": [{"name": "engine", "state": {"terminated": {"exitCode": 137, "signal": 9,
      "reason": "OOMKilled", "message": "{\"rank\":3,\"signal\":9,\"reason\":\"OOMKilled\",\"message\":\"no memory\"}"}}}]}})");
  EXPECT_TRUE(pod.has_ended());
  const ContainerView& engine = *pod.container("engine");
  EXPECT_EQ(engine.exit_code, 137);
  EXPECT_EQ(engine.reason, "OOMKilled");
  const auto end = read_rank_end(engine.message);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->culprit.rank, 3);
  EXPECT_EQ(end->culprit.signal, "SIGKILL");
  EXPECT_EQ(end->reason, "OOMKilled");
  EXPECT_EQ(end->message, "no memory");
}

TEST(Pod, EvictedAndOnItsWayOut) {
  const PodView pod = read_pod(R"({"metadata": {"deletionTimestamp": "2026-03-01T12:00:30Z",
    "deletionGracePeriodSeconds": 30}, "spec": {"nodeName": "n2"}, "status": {"phase": "Failed", "reason": "Evicted",
    "message": "low on memory", "conditions": [{"type": "DisruptionTarget", "status": "True",
    "reason": "TerminationByKubelet"}, {"type": "Ready", "status": "False"}]}})");
  EXPECT_TRUE(pod.is_terminating());
  EXPECT_EQ(pod.meta.grace, 30);
  EXPECT_EQ(pod.reason, "Evicted");
  EXPECT_EQ(pod.disruption, "TerminationByKubelet");
}

TEST(Pod, EndedByKueueBeforeItHadANode) {
  const PodView pod = read_pod(R"({"metadata": {"labels": {"kueue.x-k8s.io/podset": "worker"}},
    "spec": {"nodeSelector": {"kubernetes.io/hostname": "n3"}}, "status": {"phase": "Failed", "conditions": [
      {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available"},
      {"type": "TerminatedByKueue", "status": "True", "reason": "UnschedulableOnAssignedNode",
       "message": "Pod terminated by Kueue NodeController due to node taint"}]}})");
  EXPECT_TRUE(pod.has_ended());
  EXPECT_FALSE(pod.is_bound());
  EXPECT_EQ(pod.disruption, "TerminatedByKueue");
  EXPECT_EQ(pod.message, "Pod terminated by Kueue NodeController due to node taint");
}

TEST(Pod, SaysAtItsGateWhichNodesItMayUse) {
  const auto rules = [](const std::string& annotations, const std::string& gates) {
    return read_pod(R"({"metadata": {"labels": {"atoll.dev/job": "cora"}, "annotations": {)" + annotations +
                    R"(}}, "spec": {"schedulingGates": [)" + gates +
                    R"(], "nodeSelector": {"kubernetes.io/hostname": "n3", "pool": "work"}}})")
        .node_rules;
  };
  const std::string gate = R"({"name": "atoll.dev/placement"})", pin = R"("atoll.dev/pinned-to": "n3")";
  EXPECT_EQ(rules("", gate), R"({"spec":{"nodeSelector":{"kubernetes.io/hostname":"n3","pool":"work"}}})");
  EXPECT_EQ(rules(pin, gate), R"({"spec":{"nodeSelector":{"pool":"work"}}})") << "without what we put there";
  EXPECT_EQ(rules(pin, ""), "");
}

TEST(Pod, HasItsNodeSinceTheSchedulerFoundOne) {
  const PodView pod = read_pod(R"({"metadata": {}, "spec": {"nodeName": "n2"}, "status": {"phase": "Running",
    "conditions": [{"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-01T12:00:30Z"},
      {"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T12:05:00Z"}]}})");
  EXPECT_EQ(pod.scheduled, parse_moment("2026-03-01T12:00:30Z"));
  EXPECT_TRUE(pod.unschedulable.empty());
}

TEST(LaunchResult, OfACompletedRun) {
  const auto result =
      read_launch_result(R"({"attempt":2,"status":0,"result":{"outcome":"stopped early","test":0.81,
    "validation":0.79,"bestEpoch":140,"epochs":200}})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, 0);
  EXPECT_EQ(result->outcome, "stopped early");
  EXPECT_EQ(result->result, (Result{0.81, 140}));
  EXPECT_EQ(result->epochs, 200);
}

TEST(LaunchResult, NamesTheCulprit) {
  const auto result = read_launch_result(R"({"status":137,"culprit":{"rank":3,"pod":"j-1-0","node":"n2",
    "signal":9,"exitCode":0},"message":"rank 3 was killed"})");
  ASSERT_TRUE(result && result->rank_end);
  EXPECT_EQ(result->rank_end->culprit, (Culprit{3, "SIGKILL", "j-1-0", "n2"}));
  EXPECT_EQ(result->rank_end->reason, "Signal");
  EXPECT_EQ(result->message, "rank 3 was killed");
}

TEST(LaunchResult, TellsALostServerFromALostConnection) {
  for (const bool answers : {true, false}) {
    const std::string said = answers ? "true" : "false";
    const auto result = read_launch_result(
        R"({"status":1,"culprit":{"rank":2,"pod":"j-1-0","node":"n2","answers":)" + said + "}}");
    ASSERT_TRUE(result && result->rank_end);
    EXPECT_EQ(result->rank_end->reason, answers ? "Disconnected" : "Lost");
  }
}

TEST(LaunchResult, AnythingElseIsNone) {
  for (const char* text : {"", "killed", "[]", "{}", R"({"result":{}})", R"({"status":"0"})", "{\"status\":"})
    EXPECT_FALSE(read_launch_result(text)) << text;
  EXPECT_FALSE(read_rank_end("sshd: no hostkeys available"));
}

TEST(Prepared, IsTheTrafficBetweenRanks) {
  const auto prepared = read_prepared(
      R"({"event":"prepared","preparedChecksum":"abc","ranks":2,"parts":[1,0],"flows":[[0,1,1000],[1,0,2000]]})");
  ASSERT_TRUE(prepared);
  EXPECT_EQ(prepared->checksum, "abc");
  ASSERT_EQ(prepared->flows.size(), 2u);
  EXPECT_EQ(prepared->flows[1].bytes, 2000);
  EXPECT_THAT(prepared->parts, ElementsAre(1, 0));
  EXPECT_TRUE(prepared->strategy.empty());
  EXPECT_TRUE(read_prepared(R"({"ranks":2,"flows":[]})")->parts.empty());
  EXPECT_EQ(read_prepared(R"({"ranks":2,"flows":[],"strategy":"{kind: bns}"})")->strategy, "{kind: bns}");
  EXPECT_EQ(read_prepared(R"({"ranks":2,"flows":[],"strategyReason":")" + std::string(2000, 'x') + "\"}")
                ->strategy_reason.size(),
            1024u);
  EXPECT_FALSE(read_prepared(R"({"ranks":2,"flows":[],"strategy":")" + std::string(2000, 'x') + "\"}"))
      << "what a container says is judged";
  for (const char* bad :
       {"done", R"({"ranks":0,"flows":[]})", R"({"ranks":2})", R"({"ranks":2,"flows":[[0,2,10]]})",
        R"({"ranks":2,"flows":[[0,1,-1]]})", R"({"ranks":2,"parts":[0],"flows":[]})",
        R"({"ranks":2,"parts":[0,0],"flows":[]})", R"({"ranks":2,"parts":[0,2],"flows":[]})",
        R"({"ranks":2,"parts":[0,"1"],"flows":[]})", R"({"ranks":2,"parts":[0,-1],"flows":[]})"})
    EXPECT_FALSE(read_prepared(bad)) << bad;
}

}  // namespace
}  // namespace atl::ctl
