#include "operator/kube/clock.h"

#include <condition_variable>
#include <mutex>

namespace atl::kube {
namespace {

class SteadyClock final : public Clock {
 public:
  Time now() override { return std::chrono::steady_clock::now(); }
  bool sleep(Milliseconds time, const std::stop_token& stop) override {
    std::mutex mutex;
    std::condition_variable_any never;
    std::unique_lock lock(mutex);
    never.wait_for(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
  }
};

}  // namespace

Clock& steady_clock() {
  static SteadyClock clock;
  return clock;
}

}  // namespace atl::kube
