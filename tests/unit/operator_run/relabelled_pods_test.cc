// Pods whose job label somebody changes: they are no longer the job's that made them, which replaces them,
// and nothing of them is remembered there.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

struct RelabelledPods : testing::Test {
  Stage stage;

  RelabelledPods() {
    stage.cluster.training.seconds = 1000;
    stage.submit("cora");
    stage.run(100, [&] { return stage.state() == "Running"; });
  }
  void relabel(const std::string& pod, const std::string& job) {
    stage.cluster.pods.at(pod)["metadata"]["labels"][kJobLabel] = job;
  }
  std::vector<std::string> pods_of(const std::string& job) {
    return stage.controller->caches().labelled_pods("team/" + job);
  }
};

TEST_F(RelabelledPods, AreInTheIndexOfTheirNewJobAlone) {
  ASSERT_THAT(pods_of("cora"), Contains("team/cora-1-0"));
  relabel("cora-1-0", "other");
  stage.tell_caches();
  EXPECT_THAT(pods_of("cora"), Not(Contains("team/cora-1-0")));
  EXPECT_THAT(pods_of("other"), ElementsAre("team/cora-1-0"));
  stage.cluster.pods.erase("cora-1-0");
  stage.tell_caches();
  EXPECT_THAT(pods_of("other"), IsEmpty());
}

TEST_F(RelabelledPods, AreReplaced) {
  relabel("cora-1-0", "other");
  stage.run(100, [&] { return stage.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(stage.cluster.runs["cora"].launches, 2);
  ASSERT_EQ(stage.status().restarts.size(), 1U);
  EXPECT_EQ(stage.status().restarts[0].reason, "Deleted");
  EXPECT_EQ(stage.status().failures, 0) << "it is no fault of the job's";
}

/// Such a pod's end, which the operator has asked for, is news of another job's pod.
TEST_F(RelabelledPods, AreNotWaitedFor) {
  stage.api.late = "pods";
  stage.job()["spec"]["runPolicy"]["suspend"] = true;
  stage.run(1);
  ASSERT_EQ(stage.count("DELETE pods cora-launcher-1"), 1);
  relabel("cora-launcher-1", "other");
  stage.api.late.clear();
  stage.run(20);
  EXPECT_EQ(stage.state(), "Suspended");
}

}  // namespace
}  // namespace atl::ctl
