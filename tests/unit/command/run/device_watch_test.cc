// A rank alone whose device hangs is ended by the time-out, whether the device's library still answers or
// not.
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
class FailedStream final : public GivenStream {
  bool reached(Mark /*mark*/) const override { throw std::runtime_error("an illegal address"); }
};

void expect_end(const DeviceStream& stream) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const DeviceWatch watch(stream, 1s, "the GPU of server1 has not finished");
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

TEST(DeviceWatch, LetsADeviceFinishInTime) {
  const SlowStream stream;
  {
    const DeviceWatch watch(stream, 60s, "too late");
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (stream.asked() <= 5 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
  }
  EXPECT_EQ(stream.asked(), 6) << "asked until the mark was reached, and no more";
}

/// The compute thread meets the same error, and reports it.
TEST(DeviceWatch, LeavesAFailedDeviceToWhoeverUsesIt) {
  const FailedStream stream;
  const DeviceWatch watch(stream, 60s, "too late");
  std::this_thread::sleep_for(1500ms);
}

}  // namespace
}  // namespace atl
