#include "command/run/device_watch.h"

#include <exception>
#include <utility>

#include "command/command_line.h"
#include "launch/rank_guard.h"

namespace atl {
namespace {

constexpr std::chrono::milliseconds kBetweenMarks{1000}, kUntilReached{100};

}  // namespace

DeviceWatch::DeviceWatch(const DeviceStream& stream, std::chrono::seconds timeout, std::string last_words)
    : stream_(stream), timeout_(timeout), last_words_(std::move(last_words)), thread_([this] { watch(); }) {}

DeviceWatch::~DeviceWatch() {
  {
    std::lock_guard guard(lock_);
    over_ = true;
  }
  news_.notify_one();
  thread_.join();
}

/// The time-out runs from when a mark is first seen. It holds for the question, too, because a call into the
/// library of a device that hangs may not return. A device that fails answers all calls, so the thread that
/// gives it work hears of it and says so.
void DeviceWatch::watch() try {
  DeviceStream::Mark reached = 0;
  while (!is_over_after(kBetweenMarks)) {
    const DeviceStream::Mark newest = stream_.newest();
    if (newest == reached) continue;
    const EndUnlessDone deadline(timeout_, last_words_, kStatusFailed);
    while (!stream_.reached(newest))
      if (is_over_after(kUntilReached)) return;
    reached = newest;
  }
} catch (const std::exception&) {
}

bool DeviceWatch::is_over_after(std::chrono::milliseconds pause) {
  std::unique_lock lock(lock_);
  return news_.wait_for(lock, pause, [this] { return over_; });
}

}  // namespace atl
