// A rank alone whose device hangs is ended by the time-out, whether the device's library still answers or
// not, and whether anything was marked behind the call that hangs or nothing.
#include "command/run/rank_start.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>

#include "command/command_line.h"

namespace atl {
namespace {

using namespace std::chrono_literals;

/// A device that was given work, and what its library answers when it is asked for it.
class GivenStream : public DeviceStream {
 public:
  Mark newest() const override { return 1; }
  void upload(void* /*device*/, const void* /*host*/, std::size_t /*bytes*/) override {}
  void download(void* /*host*/, const void* /*device*/, std::size_t /*bytes*/) override {}
};
class UnfinishedStream final : public GivenStream {
  bool reached(Mark /*mark*/) const override { return false; }
};
class SilentStream final : public GivenStream {
  bool reached(Mark /*mark*/) const override {
    std::this_thread::sleep_for(60s);
    return true;
  }
};
class SlowStream final : public GivenStream {
 public:
  bool reached(Mark /*mark*/) const override { return ++asked_ > 5; }
  int asked() const { return asked_; }

 private:
  mutable std::atomic<int> asked_{0};
};
/// A thread hangs in the library while it marks, and keeps the lock that the newest mark is under.
class LockedStream final : public GivenStream {
 public:
  Mark newest() const override {
    std::this_thread::sleep_for(60s);
    return 0;
  }
};
/// Nothing was marked since the last mark was reached.
class IdleStream final : public GivenStream {
 public:
  Mark newest() const override { return 0; }
};
class FailedStream final : public GivenStream {
  bool reached(Mark /*mark*/) const override { throw std::runtime_error("an illegal address"); }
};

void expect_end(const DeviceStream& stream, std::uint64_t (*call)() = nullptr) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const DeviceWatch watch(stream, call, 1s, "the GPU of server1 has not finished");
        std::this_thread::sleep_for(30s);
      },
      testing::ExitedWithCode(kStatusFailed), "the GPU of server1 has not finished");
}

TEST(DeviceWatch, EndsTheRankOfADeviceThatHangs) {
  expect_end(UnfinishedStream());
}

TEST(DeviceWatch, EndsTheRankOfALibraryThatDoesNotAnswer) {
  expect_end(SilentStream());
}

TEST(DeviceWatch, EndsTheRankThatHangsWhileItMarks) {
  expect_end(LockedStream());
}

TEST(DeviceWatch, EndsTheRankThatHangsInACallBehindWhichNothingIsMarked) {
  expect_end(IdleStream(), [] { return std::uint64_t(7); });
}

/// Looks, a second apart, find a call each, which is another one when they look again.
TEST(DeviceWatch, LetsCallsEnd) {
  static std::atomic<std::uint64_t> asked{0};
  const IdleStream stream;
  {
    const DeviceWatch watch(
        stream, [] { return ++asked; }, 5s, "too late");
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (asked < 4 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
  }
  EXPECT_GE(asked, 4U) << "each look asks for the call, and whether it is still the same";
}

TEST(DeviceWatch, LetsADeviceFinishInTime) {
  const SlowStream stream;
  {
    const DeviceWatch watch(stream, nullptr, 60s, "too late");
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (stream.asked() <= 5 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(stream.asked(), 6) << "asked until the mark was reached, and no more";
}

/// The compute thread meets the same error, and reports it.
TEST(DeviceWatch, LeavesAFailedDeviceToWhoeverUsesIt) {
  const FailedStream stream;
  const DeviceWatch watch(stream, nullptr, 60s, "too late");
  std::this_thread::sleep_for(1500ms);
}

}  // namespace
}  // namespace atl
