// The operator is killed before and after each write of a job's life. Before: the server never gets the
// write. After: the server has done it, but nobody gets the answer. Its successor starts with empty caches.
// Nothing is done twice and nothing is forgotten.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "operator_controller/fake_kueue.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

void until_ended(Stage& stage) {
  stage.run(600, [&] { return stage.has_ended(); });
  stage.run(10);  // what is done afterwards belongs to it
}

void until_running(Stage& stage) {
  stage.run(200, [&] { return stage.state() == "Running"; });
  stage.run(7);
}

void expect_nothing_made_twice(const Stage& stage) {
  std::set<std::string> once;
  for (const std::string& object : stage.api.made) EXPECT_TRUE(once.insert(object).second) << object;
}

void expect_success(Stage& stage, int launches) {
  EXPECT_EQ(stage.state(), "Succeeded") << stage.job().dump(1);
  EXPECT_EQ(stage.cluster.runs["cora"].completions, 1);
  EXPECT_EQ(stage.cluster.runs["cora"].launches, launches);
  EXPECT_EQ(stage.status().attempt, launches);
  EXPECT_EQ(stage.status().result.test, 0.81);
  EXPECT_THAT(stage.cluster.pods_of("cora", kWorkerRole), IsEmpty())
      << "launchers alone are left, for their logs";
  expect_nothing_made_twice(stage);
}

/// Lives it undisturbed, then once for each write and each way of dying at it. Returns how many writes there
/// are.
int live(const std::function<void(Stage&)>& life) {
  for (int write = 0;; ++write) {
    for (const bool after : {false, true}) {
      SCOPED_TRACE("killed " + std::string(after ? "after" : "before") + " write " + std::to_string(write));
      Stage stage;
      stage.writes_at_once = 1;  // so that the writes have an order
      stage.start();
      stage.api.cut_in = write;
      stage.api.cut_after = after;
      life(stage);
      if (testing::Test::HasFailure() || stage.api.cut_in >= 0) return write;
    }
  }
}

TEST(Kills, OfAWholeLife) {
  const int writes = live([](Stage& stage) {
    stage.submit("cora");
    until_ended(stage);
    expect_success(stage, 1);
    EXPECT_EQ(stage.cluster.prepares, 1);
    EXPECT_THAT(stage.status().restarts, IsEmpty());
  });
  EXPECT_GE(writes, 15)
      << "keys, manifest, policy, four pods, three statuses, releases, the attempt's addresses";
}

TEST(Kills, OfALifeInWhichARankIsLost) {
  live([](Stage& stage) {
    stage.submit("cora");
    until_running(stage);
    stage.cluster.end_pod("cora-1-0", 137, "OOMKilled", R"({"rank":3,"signal":9,"reason":"OOMKilled"})");
    until_ended(stage);
    expect_success(stage, 2);
    ASSERT_THAT(stage.status().restarts, SizeIs(1)) << "it is counted once";
    EXPECT_EQ(stage.status().restarts[0].culprit.rank, 3);
    EXPECT_EQ(stage.status().failures, 1);
  });
}

TEST(Kills, OfALifeThatIsSuspendedAndResumed) {
  live([](Stage& stage) {
    stage.submit("cora");
    until_running(stage);
    stage.job()["spec"]["runPolicy"]["suspend"] = true;
    stage.run(100, [&] { return stage.state() == "Suspended"; });
    EXPECT_THAT(stage.cluster.pods, IsEmpty());
    stage.job()["spec"]["runPolicy"]["suspend"] = false;
    until_ended(stage);
    expect_success(stage, 2);
    EXPECT_THAT(stage.status().restarts, IsEmpty());
  });
}

TEST(Kills, OfALifeInAQueueThatEvictsTheJobOnce) {
  live([](Stage& stage) {
    stage.kueue = true;
    stage.start();
    FakeKueue kueue(stage.cluster);
    stage.cluster.flavors["on-demand"] = {{"metadata", {{"name", "on-demand"}}}, {"spec", json::object()}};
    stage.submit("cora");
    stage.job()["metadata"]["labels"][kQueueLabel] = "team-queue";
    until_running(stage);
    kueue.evict();
    until_ended(stage);
    expect_success(stage, 2);
    EXPECT_TRUE(holds(kueue.read().conditions, kFinished));
  });
}

TEST(Kills, OfALifeAfterWhichTheJobIsDeleted) {
  live([](Stage& stage) {
    stage.submit("cora", {{"/spec/runPolicy/ttlSecondsAfterFinished", 5}});
    stage.run(600, [&] { return !stage.cluster.objects.contains({Kind::kJob, "cora"}); });
    EXPECT_FALSE(stage.cluster.objects.contains({Kind::kJob, "cora"}));
    EXPECT_EQ(stage.cluster.runs["cora"].completions, 1);
    expect_nothing_made_twice(stage);
  });
}

}  // namespace
}  // namespace atl::ctl
