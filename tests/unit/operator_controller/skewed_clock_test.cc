// An API server whose clock differs from ours: its time of a pod's creation proves nothing.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::SizeIs;

/// What `life` leaves of a job must not depend on how far the server's clock is off, in seconds.
void with_skew(const std::function<void(World&)>& life) {
  for (const int skew : {-7200, 0, 7200}) {
    SCOPED_TRACE("the server's clock is off by " + std::to_string(skew) + " s");
    World world;
    world.atoll.add = [skew](Observed& seen) {
      for (PodView& pod : seen.pods)
        if (pod.meta.created) *pod.meta.created += Seconds(skew);
      for (ObjectView& object : seen.objects)
        if (object.meta.created) *object.meta.created += Seconds(skew);
    };
    life(world);
  }
}

TEST(SkewedClock, APreparePodHasItsWholeTimeToStart) {
  with_skew([](World& world) {
    world.atoll.submit(sample_job_json({{"/spec/runPolicy", {{"startDeadlineSeconds", 60}}}}));
    for (auto& [name, node] : world.cluster.nodes) node.pulls_images = false;
    world.atoll.run(45);
    EXPECT_THAT(world.atoll.status().restarts, SizeIs(0));
    world.atoll.run(30);
    EXPECT_THAT(world.atoll.status().restarts, SizeIs(1));
  });
}

TEST(SkewedClock, EveryFailedPrepareCountsOnce) {
  with_skew([](World& world) {
    world.cluster.does_prepare_fail = true;
    world.atoll.submit(sample_job_json({{"/spec/runPolicy", {{"backoffLimit", 2}}}}));
    world.atoll.run(400);
    EXPECT_EQ(world.atoll.state(), "Failed");
    EXPECT_EQ(world.atoll.status().failures, 3);
  });
}

TEST(SkewedClock, PodsThatEndWithTheirAttemptAreNoFailuresOfTheNext) {
  with_skew([](World& world) {
    world.atoll.submit(sample_job_json());
    world.atoll.run(600, [&] { return world.cluster.is_running("cora-1-0"); });
    world.cluster.end_pod("cora-0-0", 1, "Error", "");
    world.cluster.end_pod("cora-1-0", 1, "Error", "");
    world.atoll.run(3);
    EXPECT_EQ(world.atoll.status().failures, 1) << "one event";
    world.atoll.run(600, [&] { return world.cluster.is_running("cora-1-1"); });
    world.cluster.end_pod("cora-1-1", 1, "Error", "");
    world.atoll.run(3);
    EXPECT_EQ(world.atoll.status().failures, 2) << "another, of a pod that was made since";
  });
}

}  // namespace
}  // namespace atl::ctl
