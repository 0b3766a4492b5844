// The operator keeps nothing of jobs that are gone, however many there were.
#include <gtest/gtest.h>
#include <malloc.h>

#include <thread>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

/// A job that is trained, a gang that waits for room that isn't there, and both are deleted with all that was
/// made for them.
void come_and_go(Stage& stage, int number) {
  const std::string trained = "trained-" + std::to_string(number), waits = "waits-" + std::to_string(number);
  stage.submit(trained);
  stage.job(trained)["spec"]["placement"]["ranks"] = 2;
  stage.submit(waits);
  stage.job(waits)["spec"]["placement"]["ranks"] = 64;
  stage.run(12);
  stage.cluster.pods.clear();
  std::erase_if(stage.cluster.objects, [&](const auto& object) {
    const std::string& name = object.first.second;
    return name.starts_with(trained) || name.starts_with(waits) ||
           label_of(object.second, kJobLabel) == trained || label_of(object.second, kJobLabel) == waits;
  });
  stage.run(3);
  stage.controller->flush_events();
  EXPECT_EQ(stage.controller->caches().jobs().size(), 0U);
}

/// Bytes that go with the controller.
std::size_t held_after(int jobs) {
  Stage stage;
  for (int job = 0; job < jobs; ++job) come_and_go(stage, job);
  stage.cluster.now +=
      Seconds(24 * 3600);  // events are remembered for a while, so that repeated ones are counted
  come_and_go(stage, jobs);
  const std::size_t with = mallinfo2().uordblks;
  // A thread keeps some of what it frees for its next allocations, and that counts as held until it ends.
  std::jthread([&] { stage.controller.reset(); }).join();
  return with - mallinfo2().uordblks;
}

TEST(DeletedJobs, LeaveNothingBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers have an allocator of their own, which doesn't count";
#endif
  held_after(2);  // what is made once
  const std::size_t few = held_after(10), many = held_after(40);
  EXPECT_LT(double(many) - double(few), 60.0 * 16) << few << " bytes after 22 jobs, " << many << " after 82";
}

}  // namespace
}  // namespace atl::ctl
