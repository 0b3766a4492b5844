// A rank's own device that hangs: its work before an exchange never ends, and the time-out ends the rank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "comm/ranks.h"
#include "tensor/device_stream.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using namespace std::chrono_literals;

/// A device whose work doesn't end before the process does.
class HangingStream final : public DeviceStream {
 public:
  bool reached(Mark /*mark*/) const override { return false; }
  void wait(Mark /*mark*/) override {
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (!ended && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(5ms);
  }
  void upload(void* /*device*/, const void* /*host*/, std::size_t /*bytes*/) override {}
  void download(void* /*host*/, const void* /*device*/, std::size_t /*bytes*/) override {}

  std::atomic<bool> ended{false};
};

TEST(LateDevice, EndsItsRankByTheTimeOut) {
  HangingStream stream;
  std::vector<std::string> told;
  Communicator::Options options{300ms};
  options.on_stuck = [&](const std::string& words) {  // a program would end here
    told.push_back(words);
    stream.ended = true;
  };
  const auto begin = std::chrono::steady_clock::now();
  const auto failures = failures_of_ranks(make_local_group(2, {"a", "b"}), options, [&](Communicator& comm) {
    if (comm.rank() == 1) return;
    Matrix rows(1, 4);
    rows.zero();
    const std::vector<RowsTo> sends{{1, rows}};
    comm.exchange(Lane::kBulk, Traffic::kHalo, sends, std::span<const RowsFrom>(), &stream).wait();
  });
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 8s);
  EXPECT_THAT(failures[0],
              AllOf(HasSubstr("halo exchange: the device of rank 0 on a has not finished earlier work"),
                    HasSubstr("within 0.3 s")));
  EXPECT_EQ(told, std::vector<std::string>{failures[0]});
}

/// A device that failed says so when it is asked, here by the thread that communicates.
class FailedStream final : public DeviceStream {
 public:
  bool reached(Mark /*mark*/) const override { fail("cudaEventQuery: an illegal address was read"); }
  void upload(void* /*device*/, const void* /*host*/, std::size_t /*bytes*/) override {}
  void download(void* /*host*/, const void* /*device*/, std::size_t /*bytes*/) override {}
};

TEST(FailedDevice, FailsTheExchangeThatWaitsForIt) {
  FailedStream stream;
  const auto failures =
      failures_of_ranks(make_local_group(2, {"a", "b"}), Communicator::Options{2s}, [&](Communicator& comm) {
        if (comm.rank() == 1) return;
        Matrix rows(1, 4);
        rows.zero();
        const std::vector<RowsTo> sends{{1, rows}};
        comm.exchange(Lane::kBulk, Traffic::kHalo, sends, std::span<const RowsFrom>(), &stream).wait();
      });
  EXPECT_EQ(failures[0], "cudaEventQuery: an illegal address was read");
}

}  // namespace
}  // namespace atl
