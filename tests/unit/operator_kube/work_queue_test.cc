// Which worker gets which key, and when.
#include "operator/kube/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "operator/kube/clock.h"
#include "operator_kube/fake_clock.h"

namespace atl::kube {
namespace {

using std::chrono::seconds;

struct WorkQueueTest : testing::Test {
  FakeClock clock;
  WorkQueue queue{clock};
};

TEST_F(WorkQueueTest, KeysComeOnceInOrder) {
  for (const char* key : {"a", "b", "a", "c", "b"}) queue.add(key);
  EXPECT_EQ(queue.depth(), 3u);
  EXPECT_EQ(queue.take_now(), "a");
  EXPECT_EQ(queue.take_now(), "b");
  EXPECT_EQ(queue.take_now(), "c");
  EXPECT_EQ(queue.take_now(), std::nullopt);
}

TEST_F(WorkQueueTest, AKeyIsInOneHandAndComesAgainIfItChangedMeanwhile) {
  queue.add("a");
  EXPECT_EQ(queue.take_now(), "a");
  queue.add("a");
  queue.add("a");
  EXPECT_EQ(queue.take_now(), std::nullopt) << "somebody works on it";
  queue.done("a");
  EXPECT_EQ(queue.take_now(), "a");
  queue.done("a");
  EXPECT_EQ(queue.take_now(), std::nullopt) << "once, however often it changed";
}

TEST_F(WorkQueueTest, FailuresWaitLongerEachTimeUntilForgotten) {
  for (const int wait : {5, 10, 20, 40, 80}) {
    queue.add_failed("a");
    clock.advance(Milliseconds(wait - 1));
    EXPECT_EQ(queue.take_now(), std::nullopt) << wait;
    clock.advance(Milliseconds(1));
    EXPECT_EQ(queue.take_now(), "a") << wait;
    queue.done("a");
  }
  queue.forget("a");
  queue.add_failed("a");
  clock.advance(Milliseconds(5));
  EXPECT_EQ(queue.take_now(), "a");
}

TEST_F(WorkQueueTest, TheWaitHasACap) {
  for (int i = 0; i < 100; ++i) queue.add_failed("a");
  WorkQueue capped(
      clock, [](const std::string&) { return false; }, Milliseconds(5), Milliseconds(1000));
  for (int i = 0; i < 100; ++i) {
    capped.add_failed("b");
    clock.advance(Milliseconds(1000));
    EXPECT_EQ(capped.take_now(), "b") << i;
    capped.done("b");
  }
}

TEST_F(WorkQueueTest, UrgentKeysComeFirstButLeaveATurnToOthers) {
  WorkQueue lanes(clock, [](const std::string& key) { return key.starts_with("runs"); });
  for (int k = 0; k < 100; ++k) lanes.add("waits-" + std::to_string(k));
  lanes.add("runs");
  EXPECT_EQ(lanes.take_now(), "runs") << "behind a hundred others";
  lanes.done("runs");
  int others = 0;
  for (int k = 0; k < 90; ++k) {
    lanes.add("runs-" + std::to_string(k));
    lanes.add("runs-more-" + std::to_string(k));
    const auto key = lanes.take_now();
    ASSERT_TRUE(key);
    others += key->starts_with("waits");
    lanes.done(*key);
  }
  EXPECT_EQ(others, 90 / (WorkQueue::kMostInARow + 1)) << "urgent ones are never fewer than before";
}

TEST_F(WorkQueueTest, AnEventDoesNotWaitForAFailuresTurn) {
  queue.add_after("a", seconds(100));
  queue.add("a");
  EXPECT_EQ(queue.take_now(), "a");
}

TEST_F(WorkQueueTest, TheEarliestOfSeveralDelaysCounts) {
  queue.add_after("a", seconds(10));
  queue.add_after("a", seconds(2));
  queue.add_after("a", seconds(20));
  clock.advance(seconds(2));
  EXPECT_EQ(queue.take_now(), "a");
  queue.done("a");
  clock.advance(seconds(100));
  EXPECT_EQ(queue.take_now(), std::nullopt) << "and the others are forgotten";
}

TEST_F(WorkQueueTest, AWaitOfCenturiesIsNotOver) {
  queue.add_after("a", std::chrono::hours(24 * 365 * 400));
  EXPECT_EQ(queue.take_now(), std::nullopt);
  clock.advance(WorkQueue::kLongestRest);
  EXPECT_EQ(queue.take_now(), "a") << "whoever wants to wait longer says so again";
}

TEST_F(WorkQueueTest, NothingIsKeptOfAKeyThatIsDropped) {
  for (const char* key : {"a", "b"}) {
    queue.add_after(key, seconds(30 * 86'400));
    queue.add_failed(key);
  }
  queue.drop("a");
  queue.drop("c");
  EXPECT_EQ(queue.size(), 2U) << "b waits, and has failed";
  EXPECT_FALSE(queue.is_put_off("a"));
  clock.advance(seconds(60 * 86'400));
  EXPECT_EQ(queue.take_now(), "b");
  queue.done("b");
  EXPECT_EQ(queue.take_now(), std::nullopt);
}

TEST(WorkQueueThreads, TakeWaitsForAKeyADelayOrAStop) {
  WorkQueue queue;
  std::stop_source stop;
  std::atomic<int> taken = 0;
  std::thread worker([&] {
    while (const auto key = queue.take(stop.get_token())) {
      ++taken;
      queue.done(*key);
    }
  });
  queue.add_after("late", Milliseconds(60));
  queue.add_after("soon", Milliseconds(20));
  queue.add("now");
  for (int i = 0; i < 300 && taken < 3; ++i) std::this_thread::sleep_for(Milliseconds(10));
  EXPECT_EQ(taken, 3);
  stop.request_stop();
  worker.join();
}

TEST(WorkQueueThreads, NoKeyIsInTwoHands) {
  WorkQueue queue;
  std::stop_source stop;
  std::atomic<int> inside[4] = {}, worked = 0;
  std::atomic<bool> was_shared = false;
  std::vector<std::thread> workers;
  for (int w = 0; w < 4; ++w) {
    workers.emplace_back([&] {
      while (const auto key = queue.take(stop.get_token())) {
        auto& mine = inside[std::stoi(*key)];
        if (++mine > 1) was_shared = true;
        std::this_thread::yield();
        --mine;
        ++worked;
        queue.done(*key);
      }
    });
  }
  for (int i = 0; i < 4000; ++i) queue.add(std::to_string(i % 4));
  while (queue.depth() > 0) std::this_thread::sleep_for(Milliseconds(1));
  stop.request_stop();
  for (auto& worker : workers) worker.join();
  EXPECT_FALSE(was_shared);
  EXPECT_GE(worked, 4);
}

TEST(Backoff, DoublesUpToItsCapWithJitterOnTop) {
  Backoff backoff({Milliseconds(800), Milliseconds(30'000), 1.0}, 7);
  for (const int wait : {800, 1600, 3200, 6400, 12'800, 25'600, 30'000, 30'000}) {
    const auto next = backoff.next();
    EXPECT_GE(next, Milliseconds(wait));
    EXPECT_LE(next, Milliseconds(2 * wait));
  }
  backoff.reset();
  EXPECT_LE(backoff.next(), Milliseconds(1600));
  EXPECT_EQ(doubled(Milliseconds(5), 10'000, Milliseconds(1000)), Milliseconds(1000));
}

TEST(Expectations, AreMetWhenEverythingWasSeen) {
  FakeClock clock;
  Expectations expectations(clock);
  EXPECT_TRUE(expectations.are_met("job"));
  expectations.expect("job", "pod-0");
  expectations.expect("job", "pod-1");
  expectations.expect("other", "pod-0");
  expectations.seen("job", "pod-0");
  expectations.seen("job", "pod-0");
  EXPECT_FALSE(expectations.are_met("job")) << "the same event twice is one";
  expectations.seen("job", "pod-1");
  EXPECT_TRUE(expectations.are_met("job"));
  EXPECT_FALSE(expectations.are_met("other"));
  expectations.forget("other");
  EXPECT_TRUE(expectations.are_met("other"));
}

TEST(Expectations, AMissedEventHoldsNothingUpForEver) {
  FakeClock clock;
  Expectations expectations(clock, seconds(300));
  expectations.expect("job", "pod-0");
  clock.advance(seconds(299));
  EXPECT_FALSE(expectations.are_met("job"));
  clock.advance(seconds(1));
  EXPECT_TRUE(expectations.are_met("job"));
}

}  // namespace
}  // namespace atl::kube
